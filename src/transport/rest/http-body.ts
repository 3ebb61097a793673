// Raw bodies: rpcs with a `google.api.HttpBody` in the request, or with one or a stream of them as
// the answer. Source: google/api/httpbody.proto.

import { create, type DescField, type DescMethod, type Message } from "@bufbuild/protobuf";
import { type HttpBody, HttpBodySchema } from "../../../gen/google/api/httpbody_pb.js";
import { errorEvent, type ProviderForm } from "./provider-error.ts";
import type { RestBinding } from "./http-rule.ts";
import type { StreamEncoder } from "./stream.ts";

/** Returns the field that takes the raw body; undefined if the body is read as JSON. */
export function httpBodyField({ body }: RestBinding): DescField | undefined {
  if (typeof body !== "object") return undefined;
  return body.message?.typeName === HttpBodySchema.typeName ? body : undefined;
}

/** Returns a request message, read from path and query, with its raw body. */
export function withHttpBody(
  message: Message,
  field: DescField,
  contentType: string,
  data: Uint8Array,
): Message {
  const httpBody = create(HttpBodySchema, { contentType, data });
  return Object.assign(message, { [field.localName]: httpBody });
}

/** Returns whether an rpc answers raw bodies. */
export function answersHttpBody({ output }: DescMethod): boolean {
  return output.typeName === HttpBodySchema.typeName;
}

/** Returns the encoder of streams of raw bodies: server-sent events of a provider's API. */
export function httpBodyEncoder(form: ProviderForm): StreamEncoder {
  return {
    mediaType: "text/event-stream; charset=utf-8",
    output: HttpBodySchema,
    isOnly: true,
    encode: bodiesOf,
    encodeError: (error) => errorEvent(error, form),
  };
}

async function* bodiesOf(messages: AsyncIterable<Message>): AsyncGenerator<Uint8Array> {
  for await (const message of messages) yield (message as HttpBody).data;
}
