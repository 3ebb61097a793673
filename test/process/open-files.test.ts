// A service that may open few files, and more connections than that: it says so and answers on.

import { connect } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { givenTestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { runProgram } from "../support/process.ts";

const testDatabase = givenTestDatabase();
const mainPath = new URL("../../src/main.ts", import.meta.url).pathname;
const openFilesMax = 210;
const connectionsMax = openFilesMax / 3;

/** Sends a request, and tells how its connection fares. */
function ask(port: number): () => "waits" | "answered" | "closed" {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  // A connection that is closed at once may be reset.
  socket.on("error", () => undefined);
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  socket.write("GET /healthz HTTP/1.1\r\nhost: waggle\r\n\r\n");
  return () => {
    if (text.includes("200 OK")) return "answered";
    return socket.closed ? "closed" : "waits";
  };
}

test("connections over a third of the files are closed, with one line of the log", async () => {
  const flags = ["--port", "0", "--operator-port", "0", "--database-url", testDatabase.url];
  const script = `ulimit -n ${openFilesMax} && exec "$@"`;
  const words = [process.execPath, mainPath, "serve", ...flags, "--shutdown-delay-ms", "0"];
  const service = runProgram("/bin/sh", ["-c", script, "sh", ...words]);
  const url = await vi.waitUntil(() => /ready on (\S+)/.exec(service.output())?.[1], patience);
  const port = Number(new URL(url).port);

  const asked = Array.from({ length: openFilesMax }, () => ask(port));
  const count = (state: string) => asked.filter((one) => one() === state).length;
  await vi.waitUntil(() => count("waits") === 0, patience);

  expect({ answered: count("answered"), closed: count("closed") }).toEqual({
    answered: connectionsMax,
    closed: openFilesMax - connectionsMax,
  });
  const lines = service.output().split("\n");
  const told = lines.filter((line) => line.includes("connections over the limit are closed"));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? "")).toMatchObject({
    level: 40,
    refused: 1,
    connections: connectionsMax,
    openFilesMax,
    msg: "connections over the limit are closed: raise the limit of open files",
  });
});
