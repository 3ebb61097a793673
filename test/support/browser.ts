// The parts of a browser that sign-in needs: cookies by host, redirects followed one at a time, and
// origins at another address, as behind a proxy.

export type Visit = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type BrowserAnswer = {
  /** Current address from the browser's point of view. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

export type Browser = {
  /** Sends one request and returns its answer; redirects are not followed. */
  visit(url: string, visit?: Visit): Promise<BrowserAnswer>;
  /**
   * Visits and follows redirects until none is left, or until `stopAt` is true for the next one.
   */
  follow(url: string, stopAt?: (url: string) => boolean): Promise<BrowserAnswer>;
  /** Returns the cookies for an origin, name to value. */
  cookies(origin: string): ReadonlyMap<string, string>;
};

export type BrowserOptions = {
  /** Real addresses of origins, if they differ. */
  readonly addresses?: Readonly<Record<string, string>>;
  /** Changes an address before it is visited. */
  readonly rewrite?: (url: URL) => void;
};

const redirectsMax = 12;

export function openBrowser({ addresses = {}, rewrite }: BrowserOptions = {}): Browser {
  const jars = new Map<string, Map<string, string>>();

  function jarOf(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  }

  function keep(url: string, setCookies: readonly string[]): void {
    for (const line of setCookies) {
      const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
      const at = pair.indexOf("=");
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const isGone = attributes.some((one) =>
        /^(max-age=0|expires=Thu, 01 Jan 1970.*)$/i.test(one),
      );
      if (isGone) jarOf(url).delete(name);
      else jarOf(url).set(name, value);
    }
  }

  async function visit(text: string, { method = "GET", headers = {}, body }: Visit = {}) {
    const target = new URL(text);
    rewrite?.(target);
    const url = target.href;
    const address = addresses[target.origin] ?? target.origin;
    const cookie = [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(address + target.pathname + target.search, {
      method,
      redirect: "manual",
      headers: { ...(cookie !== "" && { cookie }), ...headers },
      ...(body !== undefined && { body }),
    });
    keep(url, response.headers.getSetCookie());
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  return {
    visit,
    async follow(url, stopAt = () => false) {
      let answer = await visit(url);
      for (let count = 0; count < redirectsMax; count += 1) {
        const location = answer.headers.get("location");
        if (location === null) return answer;
        const next = new URL(location, answer.url).href;
        if (stopAt(next)) return { ...answer, url: next };
        answer = await visit(next);
      }
      throw new Error("too many redirects");
    },
    cookies: (origin) => jarOf(origin),
  };
}
