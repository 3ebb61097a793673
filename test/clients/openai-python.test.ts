// PyPI openai 3.54.0 pointed at the proxy by its base URL alone, over every kind of provider.
// Source: the published client; docs/decisions.md, 20.1, 21.1.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { is, readEvents } from "../support/read-back.ts";
import { startService } from "../support/service.ts";
import { providersOf, standInApis } from "../support/stand-in/providers.ts";
import { givenReport, installPython, pythonOf } from "./environment.ts";
import { readReport } from "./program.ts";

const title = "PyPI openai 3.54.0";
const words = "It is 18 °C and sunny in Paris.";

type Answer = {
  readonly content: string;
  readonly finish_reason: string;
  readonly tokens: number;
};

type Report = {
  readonly providers: Readonly<
    Record<
      string,
      {
        readonly whole: Answer & { readonly generation_id: string };
        readonly streamed: Answer;
        readonly called: { readonly name: string; readonly arguments: unknown };
      }
    >
  >;
  readonly embeddings: readonly (readonly number[])[];
  readonly models: readonly string[];
  readonly failures: Readonly<Record<string, { readonly type: string; readonly message: string }>>;
};

const standIn = givenStarted(startOpenAiStandIn);
const service = givenStarted(() =>
  startService({ providers: providersOf(standIn), "provider-attempts": "1" }),
);
const report = givenReport(
  title,
  () => installPython("openai.txt"),
  (environment) =>
    readReport<Report>({
      command: pythonOf(environment.folder),
      words: [
        join(import.meta.dirname, "python/openai_client.py"),
        `${service.url}/v1`,
        service.projectKey,
      ],
      env: { PYTHONDONTWRITEBYTECODE: "1" },
    }),
);

describe(title, () => {
  test.each(standInApis)("reads the same of %s whole and from a stream", async (provider) => {
    const { whole, streamed, called } = report.providers[provider] ?? {};

    expect(whole).toMatchObject({ content: words, finish_reason: "stop" });
    expect(streamed).toEqual({
      content: words,
      finish_reason: "stop",
      tokens: whole?.tokens,
    });
    expect(called).toEqual({ name: "weather", arguments: { city: "Paris" }, then: words });
    const id = whole?.generation_id ?? "";
    const [event] = await readEvents({ url: service.url, key: service.readOnlyKey }, [
      is("event_id", id),
    ]);
    expect(event).toMatchObject({
      event_type: "model",
      config: { provider, model: "some" },
      outputs: { content: words },
    });
  });

  test("reads embeddings and the list of models", () => {
    expect(report.embeddings).toEqual([
      [0.25, -0.5, 0.125, 1],
      [0.25, -0.5, 0.125, 1],
    ]);
    expect(report.models).toContain("openai/stand-in");
  });

  test("raises the class of error that its user expects", () => {
    const types = Object.fromEntries(
      Object.entries(report.failures).map(([name, { type }]) => [name, type]),
    );

    expect(types).toMatchObject({
      rejected: "BadRequestError",
      limited: "RateLimitError",
      failed: "InternalServerError",
      malformed: "InternalServerError",
      "error event": "APIError",
      unknown: "BadRequestError",
    });
    expect(types["cut off"]).not.toBe("none");
    expect(report.failures["rejected"]?.message).toContain("stand-in says 400");
  });
});
