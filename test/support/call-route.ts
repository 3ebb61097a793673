// Calls of the routes of a running service, whatever they answer.

export type RouteAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
};

/** Calls a route, written as method and path, such as `GET /v1/metrics`. */
export async function callRoute(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  route: string,
  body?: unknown,
): Promise<RouteAnswer> {
  const [method = "", path = ""] = route.split(" ");
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { status, headers: answered } = response;
  const text = await response.text();
  return { status, headers: answered, text, json: JSON.parse(text) as RouteAnswer["json"] };
}
