// A case of golden.test.ts, and the function that makes one.

import type { DescMethod, JsonObject } from "@bufbuild/protobuf";

export type Request = {
  /** Method and path, for example `PUT /v1/events/e1`. */
  readonly route: string;
  readonly body?: JsonObject;
  /** A body that is no JSON object, in place of `body`. */
  readonly file?: { readonly type: string; readonly text: string };
};

export type Case = {
  /** Folder and file of the golden, for example `post-events/created`. */
  readonly name: string;
  readonly given: readonly Request[];
  readonly request: Request;
  readonly key: "project" | "readOnly" | "ingestion" | "controlPlane" | "none";
  /** The rpc with the same effect, or why there is none. */
  readonly rpc: { readonly method: DescMethod; readonly message: JsonObject } | string;
  /** Member of the rpc's answer that is the whole answer over REST. */
  readonly list?: string;
};

const nothing: readonly Request[] = [];

export type Options = Partial<Pick<Case, "given" | "key" | "list">> & {
  readonly body?: JsonObject;
  readonly file?: Request["file"];
  /** The rpc's message where it is not the body; `{}` for a request without a body. */
  readonly message?: JsonObject;
};

/** Makes a case; the message of its rpc is its body unless it has another. */
export function golden(
  name: string,
  route: string,
  method: DescMethod | string,
  options: Options,
): Case {
  const { body, file, list, given = nothing, key = "project" } = options;
  const message = options.message ?? body ?? {};
  const request = { route, ...(body && { body }), ...(file && { file }) };
  const rpc = typeof method === "string" ? method : { method, message };
  return { name, given, request, key, rpc, ...(list !== undefined && { list }) };
}
