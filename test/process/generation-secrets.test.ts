// The secrets of providers in the real service with its fullest log: after calls of every kind that
// end in every way, they stand in no answer, no event, no column of any table and no line of the
// log.
// Source: docs/decisions.md, 20.1, 21.6.

import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { anEncryptionKey } from "../support/credentials.ts";
import { createTestDatabase, urlOf } from "../support/database.ts";
import { givenAKey } from "../support/keys.ts";
import { type StandIn, startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { patience } from "../support/patience.ts";
import { everyTable, findIn, formsOf } from "../support/every-table.ts";
import { type Process, run } from "../support/process.ts";
import { givenAProject } from "../support/project.ts";
import { standInApis } from "../support/stand-in/providers.ts";
import { type Tenant, withKey } from "../support/tenants.ts";

const timeoutMs = 300_000;
const messages = [{ role: "user", content: "hi" }];

/** How calls end: well, with an error that repeats what was sent, or with none that can be read. */
const plays = [
  "some",
  "leak-key",
  "leak-key-400",
  "leak-key-429",
  "leak-key-500",
  "leak-key-event",
  "redirect",
  "malformed",
  "cut-off",
  "reset",
];

type Send = (method: string, path: string, body?: unknown) => Promise<string>;

const canary = (name: string): string => `sk-${name}-${randomBytes(12).toString("hex")}`;

test(
  "secrets are found in nothing that is stored, logged or answered",
  { timeout: timeoutMs },
  async () => {
    const standIn = await startOpenAiStandIn();
    onTestFinished(() => standIn.stop());
    const own = await createTestDatabase();
    onTestFinished(() => own.drop());
    const tenant = await givenAProject(own.database);
    const operatorsKey = canary("operator");
    const encryptionKey = anEncryptionKey("main");
    const { url, process } = await serve(await urlOf(own.database), standIn, {
      providers: operatorsProviders(standIn, operatorsKey),
      "encryption-keys": encryptionKey.text,
    });
    const { secret: projectKey } = await givenAKey(own.database, tenant, { kind: "project" });
    const answers: string[] = [];
    const send = sender(url, { authorization: `Bearer ${projectKey}` }, answers);
    const owner = { kind: "control_plane", root: "org" } as const;
    const sendAsOwner = sender(url, await withKey(own.database, tenant, owner), answers);

    const tenantsSecrets = await giveCredentials(sendAsOwner, tenant, standIn);
    for (const provider of [...standInApis, "operators"])
      await callInEveryWay(send, tenant, provider);
    await send("GET", "/v1/models");
    answers.push(await send("POST", "/v1/events/export", { limit: 1_000 }));
    await sendAsOwner("GET", `/v1/orgs/${tenant.orgId}/audit_log`);
    process.kill("SIGTERM");
    const { output } = await process.ended();

    const secrets = [...tenantsSecrets, operatorsKey, encryptionKey.text.split(":")[1] ?? ""];
    const where = {
      answers: answers.join("\n"),
      log: output,
      ...(await everyTable(own.database)),
    };
    expect(findIn(where, secrets.flatMap(formsOf))).toEqual([]);
    // The searched texts are complete: the calls are in them, and providers had the secrets.
    const told = expect.arrayContaining(["answers", "events"]) as string[];
    expect(findIn(where, ["leak-key-429"])).toEqual(told);
    expect(findIn(where, ["Incorrect API key provided: [redacted]"])).toEqual(told);
    expect(output.split("\n").length).toBeGreaterThan(plays.length);
    const sent = JSON.stringify(standIn.requests.map(({ path, headers }) => [path, headers]));
    expect(sent).toContain(operatorsKey);
    // The second secret of Bedrock signs, and is not sent.
    const unsent = tenantsSecrets.filter((secret) => !sent.includes(secret));
    expect(unsent).toEqual([expect.stringContaining("signs")]);
    // Nor did they get the key of our caller.
    expect(sent).not.toContain(projectKey);
  },
);

function operatorsProviders({ urls }: StandIn, key: string): string {
  return JSON.stringify({
    operators: { provider: "openai_compatible", base_url: urls.openai_compatible, api_key: key },
  });
}

async function serve(
  databaseUrl: string,
  standIn: StandIn,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; readonly process: Process }> {
  const flags = {
    "database-url": databaseUrl,
    port: "0",
    "operator-port": "0",
    "log-level": "trace",
    "provider-private-hosts": new URL(standIn.url).host,
    "provider-attempts": "2",
    ...settings,
  };
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const process = run("serve", ...words);
  const url = await vi.waitUntil(
    () => /ready on (http[^\s"]+)/.exec(process.output())?.[1],
    patience,
  );
  return { url, process };
}

/** Sends JSON, and keeps the answer or the error. */
function sender(url: string, headers: Readonly<Record<string, string>>, answers: string[]): Send {
  return async (method, path, body) => {
    const answer: string[] = [];
    try {
      const response = await fetch(url + path, {
        method,
        headers: { ...headers, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      answer.push(`${response.status} ${JSON.stringify([...response.headers])}`);
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? [])
        answer.push(decoder.decode(chunk as Uint8Array));
    } catch (error) {
      // A stream that breaks off, as it should.
      answer.push(String(error));
    }
    const text = answer.join("");
    answers.push(text);
    return text;
  };
}

/** Gives the tenant credentials of every provider, and returns their secrets. */
async function giveCredentials(
  send: Send,
  tenant: Tenant,
  { urls }: StandIn,
): Promise<readonly string[]> {
  const path = `/v1/projects/${tenant.projectId}/provider_credentials`;
  const all: string[] = [];
  const give = async (body: Readonly<Record<string, string>>, secrets: object): Promise<string> => {
    const answer = await send("POST", path, { ...body, ...secrets });
    expect(answer).toMatch(/^200 /);
    all.push(...(Object.values(secrets) as string[]));
    return /"credential_id":"([^"]+)"/.exec(answer)?.[1] ?? "";
  };
  for (const provider of standInApis.filter((api) => api !== "bedrock")) {
    const id = await give(
      { provider, name: provider, base_url: urls[provider] },
      { api_key: canary(provider) },
    );
    await send("GET", `${path}/${id}`);
  }
  await give(
    { provider: "bedrock", name: "bedrock", base_url: urls.bedrock, region: "us-east-1" },
    {
      access_key_id: canary("names"),
      secret_access_key: canary("signs"),
      session_token: canary("session"),
    },
  );
  // Its list of models is refused with words that repeat the key.
  const leaking = urls.openai.replace("/v1", "/leak-key/v1");
  await give(
    { provider: "openai", name: "leaking", base_url: leaking },
    { api_key: canary("list") },
  );
  await send("GET", path);
  return all;
}

async function callInEveryWay(send: Send, tenant: Tenant, provider: string): Promise<void> {
  for (const play of plays) {
    const model = `${provider}/${play}`;
    const chat = { project: tenant.projectId, model, messages };
    await Promise.all([
      send("POST", "/chat", chat),
      send("POST", "/chat", { ...chat, stream: true }),
      send("POST", "/waggle.v1.GenerationService/CreateChat", chat),
      send("POST", "/v1/chat/completions", { model, messages }),
      send("POST", "/v1/chat/completions", { model, messages, stream: true }),
      send("POST", "/v1/embeddings", { model, input: "hi" }),
    ]);
  }
}
