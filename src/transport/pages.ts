// Plain HTTP pages beside the rpcs: sign-in. A page takes and returns records, so that its code
// does not depend on Node's http. Source: docs/decisions.md, 10, 36.1.

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
  /** Request body: empty for GET; at most the size of an anonymous body. */
  readonly body: Buffer;
};

export type PageAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
};

export type Page = (request: PageRequest) => Promise<PageAnswer>;

export type Pages = {
  /** Pages by method and path, such as `GET /auth/sign-in`. */
  readonly routes: Readonly<Record<string, Page>>;
  /** Returns the page for an error. NOT_FOUND never comes here, since it has one fixed body. */
  readonly toFailureAnswer: (
    failure: ServiceError,
    request: Pick<PageRequest, "accept">,
  ) => PageAnswer;
};

export type PageRoute = {
  /** Returns whether a page has this method and path. */
  matches(exchange: Exchange): boolean;
  /** Answers a request for which `matches` is true. */
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
    // The body is small and the page reads it at once, so it no longer counts.
    reservation.release();
  }
}
