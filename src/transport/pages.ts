// Plain HTTP pages beside the rpcs: sign-in. Records in and out, so that whoever answers them knows
// nothing of Node's http. Called by routes.ts; the pages are given by app.ts.
// Source: docs/decisions.md, 10, 36.

import type { ServiceError } from "../base/errors.ts";
import { readBody } from "./body.ts";
import { credentialsOf, type Exchange, headerOf, writeAnswer } from "./exchange.ts";
import { headersOf, serviceErrorOf } from "./interceptors/errors.ts";
import type { CallOptions } from "./plain-call.ts";
import { notFoundAnswer } from "./rest/error-body.ts";

export type PageRequest = {
  readonly httpMethod: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly cookie: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
  readonly accept: string | undefined;
  /** Empty for GET; at most the body of a call without a key. */
  readonly body: Buffer;
};

export type PageAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
};

export type Page = (request: PageRequest) => Promise<PageAnswer>;

export type Pages = {
  /** By method and path, such as `GET /auth/sign-in`. */
  readonly routes: Readonly<Record<string, Page>>;
  /** Returns what a failure looks like; NOT_FOUND never comes here: it has its one body. */
  readonly toFailureAnswer: (
    failure: ServiceError,
    request: Pick<PageRequest, "accept">,
  ) => PageAnswer;
};

export type PageRoute = {
  /** Tells whether a page has this method and path. */
  matches(exchange: Exchange): boolean;
  /** Answers a request that `matches`. */
  serve(exchange: Exchange): Promise<void>;
};

export type PageRouteOptions = Pick<
  CallOptions,
  "memory" | "bodyLimits" | "bodyStallMs" | "mapError"
> & { readonly pages: Pages };

export function createPageRoute(options: PageRouteOptions): PageRoute {
  const routes = new Map(Object.entries(options.pages.routes));
  const keyOf = ({ httpMethod, path }: Exchange) => `${httpMethod} ${path}`;
  return {
    matches: (exchange) => routes.has(keyOf(exchange)),
    async serve(exchange) {
      const page = routes.get(keyOf(exchange));
      if (!page) throw new Error("a page that does not match");
      const { status, headers, body } = await answerOf(options, exchange, page);
      await writeAnswer(exchange, { status, headers, body: Buffer.from(body) });
    },
  };
}

type Answered = Omit<PageAnswer, "body"> & { readonly body: string | Buffer };

async function answerOf(
  options: PageRouteOptions,
  exchange: Exchange,
  page: Page,
): Promise<Answered> {
  try {
    return await page(await readRequest(options, exchange));
  } catch (error) {
    const failure = serviceErrorOf(options.mapError(error));
    if (failure.reason === "NOT_FOUND") {
      return { ...notFoundAnswer(), headers: { "content-type": "application/json" } };
    }
    const accept = headerOf(exchange.request, "accept");
    const { status, headers, body } = options.pages.toFailureAnswer(failure, { accept });
    return { status, headers: { ...headers, ...headersOf(failure) }, body };
  }
}

async function readRequest(
  { memory, bodyLimits, bodyStallMs }: PageRouteOptions,
  exchange: Exchange,
): Promise<PageRequest> {
  const { request, httpMethod, path, query } = exchange;
  const { cookie, origin, host } = credentialsOf(exchange);
  const accept = headerOf(request, "accept");
  const reservation = memory.open(undefined);
  try {
    const body =
      httpMethod === "GET"
        ? Buffer.alloc(0)
        : await readBody(request, {
            bytesMax: bodyLimits.anonymous,
            stallMs: bodyStallMs,
            reservation,
            encoding: headerOf(request, "content-encoding"),
            declaredBytes: headerOf(request, "content-length"),
          });
    return { httpMethod, path, query, cookie, origin, host, accept, body };
  } finally {
    // Small, and read by the page at once: from here on it counts no longer.
    reservation.release();
  }
}
