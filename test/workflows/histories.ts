// Saved histories of real workflows, which a change of workflow code must still replay. Written by
// the tests of workflows when they run with RECORD_HISTORIES=on (npm run record:histories).

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import type { Client } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";

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
  const saved = { workflowId, history: JSON.parse(historyToJSON(history)) as unknown };
  await mkdir(folder, { recursive: true });
  await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify(saved, null, 1)}\n`);
}

export type SavedHistory = {
  readonly name: string;
  readonly workflowId: string;
  readonly history: unknown;
};

export async function listHistories(): Promise<readonly SavedHistory[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), "utf8");
      return { name, ...(JSON.parse(text) as Omit<SavedHistory, "name">) };
    }),
  );
}
