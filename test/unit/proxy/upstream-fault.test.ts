// Errors of providers as callers see them; secrets are removed in every spelling.

import { expect, test } from "vitest";
import { statusFault } from "../../../src/generation/openai/error.ts";
import { connectionOf } from "../generation/connections.ts";

const secret = "sk-proj-abcdefgh0123456789";
const connection = connectionOf({ secrets: { api_key: secret } });

function faultOf(body: string) {
  const fault = statusFault(connection, 400, undefined, Buffer.from(body));
  return { message: fault.message, body: Buffer.from(fault.body ?? []).toString() };
}

test("a body passes as it was written where it holds no secret", () => {
  const body = '{ "error": {"message": "caf\\u00e9", "code": 1.0} }';

  expect(faultOf(body)).toEqual({ message: "provider local answered 400: café", body });
});

test("a secret that is hidden by escapes is taken out", () => {
  const escaped = Array.from(secret, (one) => `\\u00${one.charCodeAt(0).toString(16)}`).join("");

  expect(faultOf(`{"error": {"message": "bad key ${escaped}."}}`)).toEqual({
    message: "provider local answered 400: bad key [redacted].",
    body: '{"error":{"message":"bad key [redacted]."}}',
  });
});
