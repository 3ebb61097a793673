// Bodies that pass as they are: rpcs whose request has a `google.api.HttpBody`, or that answer one
// or a stream of them. Called by transcoder.ts. Source: google/api/httpbody.proto.

import { create, type DescField, type DescMethod, type Message } from "@bufbuild/protobuf";
import { type HttpBody, HttpBodySchema } from "../../../gen/google/api/httpbody_pb.js";
import type { ServiceError } from "../../base/errors.ts";
import { openAiErrorBody } from "./openai-error.ts";
import type { RestBinding } from "./http-rule.ts";
import type { StreamEncoder } from "./stream.ts";

/** Returns the field that takes the body as it is; undefined where it is read as JSON. */
export function httpBodyField({ body }: RestBinding): DescField | undefined {
  if (typeof body !== "object") return undefined;
  return body.message?.typeName === HttpBodySchema.typeName ? body : undefined;
}

/** Returns the request message of a body that passes as it is. */
export function readHttpBody(
  { input }: DescMethod,
  field: DescField,
  contentType: string,
  data: Uint8Array,
): Message {
  const httpBody = create(HttpBodySchema, { contentType, data });
  return create(input, { [field.localName]: httpBody });
}

/** Tells whether an rpc answers bodies that pass as they are. */
export function answersHttpBody({ output }: DescMethod): boolean {
  return output.typeName === HttpBodySchema.typeName;
}

/** Streams of bodies are server-sent events of the OpenAI API. */
export const httpBodyEncoder: StreamEncoder = {
  mediaType: "text/event-stream; charset=utf-8",
  output: HttpBodySchema,
  isOnly: true,
  async *encode(messages) {
    for await (const message of messages) yield (message as HttpBody).data;
  },
  encodeError: (error: ServiceError) =>
    Buffer.from(`data: ${JSON.stringify(openAiErrorBody(error))}\n\n`),
};
