// The baseline of `bench ingest`: the rows that the service stored, loaded by server-side COPY FROM
// a file over two parallel connections, into the same table and indexes of a second database.

import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { migrate } from "../../src/postgres/migrate.ts";
import { openDatabase } from "../../src/postgres/database.ts";

/** Start times in microseconds: from inclusive, to exclusive. */
export type TimeRange = { readonly fromUs: number; readonly toUs: number };

export type CopyBaseline = {
  /**
   * Copies the rows of a time range; returns their number and the seconds without making the files.
   */
  run(range: TimeRange): Promise<{ readonly rows: number; readonly seconds: number }>;
  close(): Promise<void>;
};

const connections = 2;
const databaseName = "bench_copy";

/** Columns of events except `model`, which Postgres generates. */
const columns =
  "project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids, " +
  "error, start_time_us, end_time_us, duration_ms, config, inputs, outputs, metadata, metrics, " +
  "feedback, user_properties";

/** Creates the second database on the server of the first. Files go to a folder below `folder`. */
export async function createCopyBaseline(url: string, folder: string): Promise<CopyBaseline> {
  const files = join(folder, "copy");
  await mkdir(files);
  // The server's account writes and reads it.
  await chmod(files, 0o777);
  const source = openDatabase({ url, connectionsMax: connections, statementTimeoutMs: 0 });
  await source.sql().unsafe(`create database ${databaseName}`);
  const target = openDatabase({
    url: withDatabase(url, databaseName),
    connectionsMax: connections,
    statementTimeoutMs: 0,
  });
  await migrate(target);
  let number = 0;

  return {
    async run({ fromUs, toUs }) {
      number += 1;
      const step = (toUs - fromUs) / connections;
      const parts = Array.from({ length: connections }, (_, part) => ({
        path: join(files, `${number}-${part}`),
        fromUs: fromUs + part * step,
        toUs: fromUs + (part + 1) * step,
      }));
      for (const part of parts) {
        await source.sql().unsafe(
          `copy (select ${columns} from events where start_time_us >= ${part.fromUs}
            and start_time_us < ${part.toUs} order by start_time_us) to '${part.path}'`,
        );
      }
      const begunAt = performance.now();
      const copied = await Promise.all(
        parts.map(({ path }) => target.sql().unsafe(`copy events (${columns}) from '${path}'`)),
      );
      return {
        rows: copied.reduce((sum, { count }) => sum + count, 0),
        seconds: (performance.now() - begunAt) / 1_000,
      };
    },
    async close() {
      await Promise.all([source.close(), target.close()]);
    },
  };
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.toString();
}
