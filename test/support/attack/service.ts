// A service to attack: `waggle serve` as a separate process with the Node flags of `npm start`, on
// a separate database with the attacker's tenant and another one.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { vi } from "vitest";
import type { KeyKind } from "../../../src/access/principal.ts";
import { createOrgKey } from "../../../src/commands/credentials.ts";
import type { LocalProject } from "../../../src/controlplane/projects/local-projects.ts";
import type { Database } from "../../../src/postgres/database.ts";
import { createTestDatabase } from "../database.ts";
import { givenAKey } from "../keys.ts";
import { givenAProject } from "../project.ts";
import { readStartCommand } from "../start-command.ts";

const root = new URL("../../../", import.meta.url);
const startTimeoutMs = 30_000;

/** A project in a separate organization, with a key of each kind. */
export type AttackTenant = {
  readonly project: LocalProject;
  readonly projectKey: string;
  readonly readOnlyKey: string;
  readonly ingestionKey: string;
  readonly dataPlaneKey: string;
  readonly controlPlaneKey: string;
};

export type AttackedService = {
  readonly url: string;
  readonly pid: number;
  readonly database: Database;
  readonly attacker: AttackTenant;
  /** The second tenant. */
  readonly tenant: AttackTenant;
  /** Resident memory after the first requests, in bytes. */
  readonly memoryAtStart: number;
  hasEnded(): boolean;
  /** Everything printed so far. */
  output(): string;
  /** Stops the service and drops its database. */
  stop(): Promise<void>;
};

/** Starts the service; `flags` are its command-line flags, such as `--body-timeout-ms`. */
export async function startAttackedService(...flags: readonly string[]): Promise<AttackedService> {
  const own = await createTestDatabase();
  const { database } = own;
  const attacker = await givenATenant(database, "attacker");
  const tenant = await givenATenant(database, "tenant");
  const server = await serve(own.url, flags);
  await warmUp(server.url, [attacker, tenant]);
  return {
    ...server,
    database,
    attacker,
    tenant,
    memoryAtStart: readMemory(server.pid),
    async stop() {
      await server.stop();
      await own.drop();
    },
  };
}

async function givenATenant(database: Database, name: string): Promise<AttackTenant> {
  const project = await givenAProject(database, name);
  const keyOf = async (kind: KeyKind): Promise<string> =>
    (await givenAKey(database, project, { kind })).secret;
  return {
    project,
    projectKey: await keyOf("project"),
    readOnlyKey: await keyOf("project_read_only"),
    ingestionKey: await keyOf("ingestion"),
    dataPlaneKey: await createOrgKey(database, project.orgId, "data_plane_api_key"),
    controlPlaneKey: await createOrgKey(database, project.orgId, "control_plane_api_key"),
  };
}

type Server = Pick<AttackedService, "url" | "pid" | "hasEnded" | "output"> & {
  stop(): Promise<void>;
};

async function serve(databaseUrl: string, flags: readonly string[]): Promise<Server> {
  const main = new URL("src/main.ts", root).pathname;
  const { flags: flagsOfNode, environment } = readStartCommand();
  const ports = ["--port", "0", "--operator-port", "0", "--log-level", "warn"];
  const words = [...flagsOfNode, main, "serve", "--database-url", databaseUrl, ...ports, ...flags];
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env["PATH"], TZ: "UTC", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
  }
  const output = (): string => chunks.join("");
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const url = await vi.waitUntil(
    () => {
      if (hasEnded()) throw new Error(`the service ended: ${output()}`);
      return /ready on (\S+)/.exec(output())?.[1];
    },
    { timeout: startTimeoutMs },
  );
  return {
    url,
    pid: child.pid ?? 0,
    hasEnded,
    output,
    async stop() {
      if (hasEnded()) return;
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    },
  };
}

const warmUpWrites = 200;

/** Sends usual requests until code and pools are as warm as in a service in use. */
async function warmUp(url: string, tenants: readonly AttackTenant[]): Promise<void> {
  for (const { projectKey } of tenants) {
    const events = Array.from({ length: warmUpWrites }, (_, index) => ({
      event_type: "tool",
      source: "test",
      inputs: { index, text: "x".repeat(1_000) },
    }));
    const post = async (path: string, body: object): Promise<void> => {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${projectKey}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
    };
    await post("/events/batch", { events });
    await Promise.all(events.map((event) => post("/events", { event })));
    await post("/v1/events/export", { filters: [] });
  }
}

/** Returns the resident memory of a process, in bytes. */
export function readMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return 1_024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}
