// Saved histories of real workflows, which a change of workflow code must still replay. Written by
// the tests of workflows when they run with RECORD_HISTORIES=on (npm run record:histories).

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";

const { History } = temporal.api.history.v1;

export type SavedHistory = {
  /** Name of the file. */
  readonly name: string;
  readonly workflowId: string;
  readonly history: temporal.api.history.v1.History;
};

const folder = new URL("./histories/", import.meta.url);

export const isRecording = process.env["RECORD_HISTORIES"] === "on";

/** Keeps the history of a workflow that has ended, when histories are recorded. */
export async function recordHistory(
  client: Client,
  workflowId: string,
  name: string,
): Promise<void> {
  if (!isRecording) return;
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  const plain = History.toObject(History.fromObject(history), {
    longs: String,
    enums: String,
    bytes: String,
    defaults: false,
  });
  await mkdir(folder, { recursive: true });
  const text = JSON.stringify({ workflowId, history: plain }, undefined, 1);
  await writeFile(new URL(`${name}.json`, folder), `${text}\n`);
}

export async function listHistories(): Promise<readonly SavedHistory[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), "utf8");
      const saved = JSON.parse(text) as { workflowId: string; history: Record<string, unknown> };
      return { ...saved, name, history: History.fromObject(saved.history) };
    }),
  );
}
