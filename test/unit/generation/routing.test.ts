// Routing of model names to targets, and its cache.

import { describe, expect, test } from "vitest";
import type { ProjectScope } from "../../../src/access/scope.ts";
import { ServiceError } from "../../../src/base/errors.ts";
import type { Connection } from "../../../src/generation/provider.ts";
import {
  type Alias,
  guessType,
  type Providers,
  resolve,
} from "../../../src/generation/connections/routing/resolve.ts";
import { createRouting } from "../../../src/generation/connections/routing/routing.ts";
import { connectionOf } from "./connections.ts";
import { patience } from "../../support/patience.ts";

const openai = connectionOf({ name: "openai", type: "openai" });
const prod = connectionOf({ name: "prod", type: "openai" });
const claude = connectionOf({ name: "anthropic", type: "anthropic" });
const vllm = connectionOf({ name: "vllm" });
const all: readonly Connection[] = [prod, openai, claude, vllm];
const aliases: readonly Alias[] = [
  { name: "fast", targets: ["openai/gpt-4o-mini", "claude-3-5-haiku-latest"] },
  { name: "half", targets: ["gone/model", "vllm/llama"] },
  { name: "none", targets: ["gone/model"] },
  { name: "loop", targets: ["loop", "fast"] },
  { name: "gpt-4o", targets: ["vllm/llama"] },
];

function found(model: string, provider?: string, connections = all): readonly string[] {
  const { targets } = resolve({ connections, aliases }, model, provider);
  return targets.map((target) => `${target.connection.name}: ${target.model}`);
}

describe("guessType", () => {
  test.each([
    { type: "openai", models: ["gpt-4o", "o1", "o3-mini", "o4-mini", "chatgpt-4o-latest"] },
    { type: "openai", models: ["text-embedding-3-small", "ft:gpt-4o-mini:acme::1"] },
    { type: "anthropic", models: ["claude-sonnet-4-5", "claude-3-5-haiku-latest"] },
    { type: "google", models: ["gemini-2.5-flash", "gemini-embedding-001"] },
    { type: "mistral", models: ["mistral-large-latest", "mixtral-8x7b", "codestral-latest"] },
    {
      type: "mistral",
      models: ["ministral-8b", "pixtral-12b", "magistral-small", "open-mistral-7b"],
    },
    { type: "bedrock", models: ["amazon.nova-lite-v1:0", "anthropic.claude-3-haiku-v1:0"] },
    { type: "bedrock", models: ["us.meta.llama3-1-70b-instruct-v1:0", "mistral.mistral-7b-v0:2"] },
    { type: "bedrock", models: ["arn:aws:bedrock:us-east-1:1:inference-profile/x"] },
    { type: undefined, models: ["llama3.1", "o2", "o10", "mistralai/Mistral-7B", "my-gpt-4o", ""] },
  ])("says $type of $models", ({ type, models }) => {
    expect(models.map(guessType)).toEqual(models.map(() => type));
  });
});

describe("resolve", () => {
  test.each([
    {
      name: "an alias, in its order",
      model: "fast",
      want: ["openai: gpt-4o-mini", "anthropic: claude-3-5-haiku-latest"],
    },
    { name: "an alias before a model of that name", model: "gpt-4o", want: ["vllm: llama"] },
    { name: "what of an alias has a provider", model: "half", want: ["vllm: llama"] },
    {
      name: "no alias inside an alias",
      model: "fast",
      want: ["openai: gpt-4o-mini", "anthropic: claude-3-5-haiku-latest"],
    },
    { name: "a model of a named connection", model: "prod/gpt-4o", want: ["prod: gpt-4o"] },
    {
      name: "a model with slashes of one",
      model: "vllm/meta-llama/Llama-3",
      want: ["vllm: meta-llama/Llama-3"],
    },
    {
      name: "a guessed provider, by its own name first",
      model: "gpt-4o-mini",
      want: ["openai: gpt-4o-mini"],
    },
    { name: "a guessed provider", model: "claude-x", want: ["anthropic: claude-x"] },
  ])("finds $name", ({ model, want }) => {
    expect(found(model)).toEqual(want);
  });

  test("takes a model whole where the request names the provider", () => {
    expect(found("openai/gpt-4o", "vllm")).toEqual(["vllm: openai/gpt-4o"]);
    expect(found("fast", "vllm")).toEqual(["vllm: fast"]);
  });

  test("guesses a connection by its type where none has the provider's name", () => {
    expect(found("o3-mini", undefined, [vllm, prod])).toEqual(["prod: o3-mini"]);
  });

  test("gives the only connection what nobody else has", () => {
    expect(found("llama3.1", undefined, [claude])).toEqual(["anthropic: llama3.1"]);
    expect(found("openai/gpt-oss-20b", undefined, [vllm])).toEqual(["vllm: openai/gpt-oss-20b"]);
  });

  test("does not give the only connection a model that names another provider", () => {
    expect(() => found("openai/gpt-4o", undefined, [claude])).toThrow(/^model: no provider/);
  });

  test("keeps what was asked", () => {
    const providers = { connections: all, aliases };

    expect(resolve(providers, "fast")).toMatchObject({ asked: "fast" });
    expect(resolve(providers, "vllm/x")).toMatchObject({ asked: "vllm/x" });
  });

  test.each([
    {
      model: "llama3.1",
      want: /^model: .*provider\/model.*providers: prod, openai, anthropic, vllm$/,
    },
    { model: "prod/", want: /^model: / },
    { model: "/gpt", want: /^model: / },
    {
      model: "none",
      want: /^model: no provider is known for any model of alias none; providers: /,
    },
    { model: "loop", want: /^model: no provider is known for any model of alias loop/ },
    { model: "", want: /^model: must be/ },
    { model: "a b", want: /^model: must be/ },
    { model: "a\n", want: /^model: must be/ },
    { model: "é", want: /^model: must be/ },
    { model: "m".repeat(513), want: /^model: must be/ },
    { model: "gpt-4o", provider: "gone", want: /^provider: there is none.*providers: prod/ },
    { model: "gpt-4o", provider: "", want: /^provider: must be/ },
  ])("refuses $model of $provider", ({ model, provider, want }) => {
    expect(() => found(model, provider)).toThrow(
      expect.objectContaining({
        reason: "INVALID_ARGUMENT",
        message: expect.stringMatching(want) as string,
      }),
    );
  });

  test("says so where there is no provider at all", () => {
    expect(() => found("gpt-4o-mini", undefined, [])).toThrow("no provider is set up");
  });

  test("says what is wrong with a provider, and passes it over where there is another", () => {
    const fault = new ServiceError("CREDENTIAL_UNREADABLE", "openai cannot be opened");
    const connections = [{ ...openai, fault }, claude];

    expect(found("fast", undefined, connections)).toEqual(["anthropic: claude-3-5-haiku-latest"]);
    expect(() => found("openai/gpt-4o", undefined, connections)).toThrow(fault);
    expect(() => found("gpt-4o", "openai", connections)).toThrow(fault);
  });

  test("names twenty providers at most", () => {
    const many = Array.from({ length: 23 }, (_, index) => connectionOf({ name: `c${index}` }));

    expect(() => found("llama", undefined, many)).toThrow(/c18, c19 and 3 more$/);
  });
});

describe("createRouting", () => {
  const project = (id: string, orgId = `org of ${id}`) =>
    ({ level: "project", id, orgId }) as ProjectScope;
  const operator: Providers = { connections: [openai, vllm], aliases };

  function start(read = () => Promise.resolve<readonly Connection[]>([])) {
    const tell: ((subject: string) => void)[] = [];
    let nowMs = 0;
    let reads = 0;
    const routing = createRouting({
      connectionsFor() {
        reads += 1;
        return read();
      },
      aliasesFor: () => Promise.resolve([{ name: "fast", targets: ["vllm/own"] }]),
      operator,
      onForget: (listener) => tell.push(listener),
      now: () => nowMs,
      bytesMax: 40_000,
    });
    return {
      routing,
      reads: () => reads,
      forget: (subject: string) => tell.forEach((listener) => listener(subject)),
      advance: (ms: number) => (nowMs += ms),
    };
  }

  test("puts a project's own before the operator's of the same name", async () => {
    const own = connectionOf({ name: "openai", type: "openai", isOperators: false, id: "own" });
    const { routing } = start(() => Promise.resolve([own]));

    const { targets } = await routing.find(project("p"), "gpt-4o-mini");
    const { connections } = await routing.list(project("p"));
    const alias = await routing.find(project("p"), "fast");

    expect(targets[0].connection).toBe(own);
    expect(connections).toEqual([own, vllm]);
    expect(alias.targets.map(({ model }) => model)).toEqual(["own"]);
  });

  test("remembers a project for 30 seconds", async () => {
    const { routing, reads, advance } = start();
    await routing.find(project("p"), "vllm/a");
    advance(29_999);
    await routing.find(project("p"), "vllm/b");
    expect(reads()).toBe(1);

    advance(1);
    await routing.find(project("p"), "vllm/c");
    expect(reads()).toBe(2);
  });

  test("forgets nothing of an organization because another one has many projects", async () => {
    const { routing, reads } = start();
    await routing.list(project("mine"));
    for (let count = 0; count < 30; count += 1) {
      await routing.list(project(`p${count}`, "large organization"));
    }
    expect(reads()).toBe(31);

    await routing.list(project("mine"));
    await routing.list(project("p29", "large organization"));
    expect(reads()).toBe(31);

    await routing.list(project("p0", "large organization"));
    expect(reads()).toBe(32);
  });

  test("reads once for many requests at a time, and for each project alone", async () => {
    const { routing, reads } = start();

    await Promise.all(["p", "p", "q", "p"].map((id) => routing.list(project(id))));

    expect(reads()).toBe(2);
  });

  test.each(["providers:0190", "*"])("forgets at once when told %s", async (subject) => {
    const { routing, reads, forget } = start();
    await routing.list(project("p"));
    forget("a key's hash");
    await routing.list(project("p"));
    expect(reads()).toBe(1);

    forget(subject);
    await routing.list(project("p"));
    expect(reads()).toBe(2);
  });

  test("does not remember what was read before a change", async () => {
    const gates: ((connections: readonly Connection[]) => void)[] = [];
    const { routing, forget } = start(() => new Promise((open) => gates.push(open)));
    const before = routing.list(project("p"));
    await expect.poll(() => gates.length, patience).toBe(1);

    forget("providers:p");
    const after = routing.list(project("p"));
    await expect.poll(() => gates.length, patience).toBe(2);
    gates[1]?.([claude]);
    gates[0]?.([prod]);
    await Promise.all([before, after]);

    const names = (await routing.list(project("p"))).connections.map(({ name }) => name);
    expect(names).toContain("anthropic");
    expect(names).not.toContain("prod");
  });

  test("asks again after a failure", async () => {
    let isDown = true;
    const { routing } = start(() =>
      isDown ? Promise.reject(new Error("down")) : Promise.resolve([]),
    );
    await expect(routing.list(project("p"))).rejects.toThrow("down");

    isDown = false;
    await expect(routing.list(project("p"))).resolves.toBeDefined();
  });
});
