// Calls of models that still run when the drain time of a shutdown is over: each is told so, none
// ends as if it were whole. Source: docs/decisions.md, 21.1, 36.2.

import { expect, test } from "vitest";
import { startProxied, until } from "../support/proxied.ts";

const messages = [{ role: "user", content: "Hello." }];

test("calls that outlast a shutdown's drain time are told that the service stopped", async () => {
  const proxied = await startProxied({ "drain-timeout-ms": "100" });
  const stream = proxied.open({ model: "up/trickle-1000", messages, stream: true });
  await stream.until((text) => text !== "");
  const whole = proxied.open({ model: "up/slow-60000", messages });
  await until(() => proxied.standIn.running() === 2);

  await proxied.service.stop();

  const { text, isWhole } = await stream.ended;
  expect({ isWhole, isDone: text.includes("[DONE]") }).toEqual({ isWhole: false, isDone: false });
  expect(text).toContain('"code":"SHUTTING_DOWN"');
  expect((await whole.ended).status).toBe(503);
  await until(() => proxied.standIn.running() === 0);
  await proxied.standIn.stop();
  await proxied.second.stop();
}, 300_000);
