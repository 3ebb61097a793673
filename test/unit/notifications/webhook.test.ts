// Signatures of webhooks, read by the published verifier of the Standard Webhooks specification.

import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createSigningSecret } from "../../../src/notifications/target.ts";
import { signWebhook } from "../../../src/notifications/webhook.ts";

const body = JSON.stringify({ type: "alert.triggered", data: { text: "séance 📈" } });

test("the published library verifies a signature", () => {
  const secret = createSigningSecret();
  const headers = signWebhook(secret, { id: "n1", atMs: Date.now(), body });

  expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
});

test.each([
  { name: "another body", change: { body: body.replace("triggered", "resolved") } },
  { name: "another id", change: { id: "n2" } },
  { name: "another time", change: { atMs: Date.now() - 10_000 } },
])("it refuses $name", ({ change }) => {
  const secret = createSigningSecret();
  const signed = { id: "n1", atMs: Date.now(), body };
  const headers = { ...signWebhook(secret, signed) };
  const other = { ...signed, ...change };
  headers["webhook-id"] = other.id;
  headers["webhook-timestamp"] = String(Math.floor(other.atMs / 1_000));

  expect(() => new Webhook(secret).verify(other.body, headers)).toThrow("No matching signature");
});

test("each secret is new, and refuses the signature of another", () => {
  const headers = signWebhook(createSigningSecret(), { id: "n1", atMs: Date.now(), body });

  expect(() => new Webhook(createSigningSecret()).verify(body, { ...headers })).toThrow(
    "signature",
  );
});
