// Answers of models that all together are more than there is memory for: refused with 503 and
// recorded, and room again when they are stored. Source: docs/decisions.md, 21.7.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { type Answer, startProxied } from "../support/proxied.ts";

const proxied = givenStarted(() =>
  // Models have a fourth of it, and a project half of that: 1.5 MB.
  startProxied({ "bytes-in-flight-max": "12000000" }),
);

const sayTo = (words: string) => [{ role: "user", content: words }];

async function chat(body: object): Promise<Answer> {
  return proxied.post("/../chat", { project: "demo", ...body });
}

describe("a prompt that repeats a value", () => {
  const inputs = { words: "x".repeat(6_000) };
  const repeated = (times: number) => ({
    model: "up/m",
    inputs,
    messages: sayTo("{{words}}".repeat(times)),
  });

  test("counts as long as it is once the value is filled in, before a model runs", async () => {
    proxied.standIn.clear();

    const refused = await chat(repeated(100));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(proxied.standIn.requests).toEqual([]);

    expect((await chat(repeated(50))).status).toBe(200);
  });

  test("is refused where no model would read it", async () => {
    const refused = await chat(repeated(1_000));

    expect(refused.status).toBe(400);
    expect(refused.text).toContain("more than 4000000 characters");
  });
});

describe("an answer that there is no memory for", () => {
  test("is a 503, recorded as such, and leaves room for the next", async () => {
    const refused = await proxied.chat({ model: "up/huge-2", messages: sayTo("too much") });

    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "OVERLOADED" } });
    expect((await proxied.eventSaying("too much")).error).toMatch(/^OVERLOADED: /);
    for (let count = 0; count < 3; count += 1) {
      const answer = await proxied.chat({ model: "up/huge-1", messages: sayTo("enough") });
      expect(answer.status).toBe(200);
    }
  });

  test("ends a stream as an error, with what came of it recorded", async () => {
    const body = { model: "up/huge-2", messages: sayTo("a stream of too much"), stream: true };
    const answer = await proxied.chat(body);

    expect(answer.isWhole).toBe(false);
    expect(answer.text).not.toContain("[DONE]");
    const event = await proxied.eventOf(answer);
    expect(event.error).toMatch(/^OVERLOADED: /);
    expect(String(event.outputs["content"]).length).toBeGreaterThan(100_000);
  });

  test.each([false, true])("is none of POST /chat either (stream: %s)", async (stream) => {
    const words = `chat of too much ${String(stream)}`;
    const answer = await chat({ model: "up/huge-2", messages: sayTo(words), stream });

    expect(answer.text).toContain("OVERLOADED");
    expect((await proxied.eventSaying(words)).error).toMatch(/^OVERLOADED: /);
    const next = await chat({ model: "up/m", messages: sayTo("next") });
    expect(next.status).toBe(200);
  });
});
