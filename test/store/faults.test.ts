// Which errors of a real Postgres mean that it cannot be asked now.

import { execFile } from "node:child_process";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/postgres/database.ts";
import { findDatabaseFault } from "../../src/postgres/faults.ts";
import { databaseUrl, givenTestDatabase } from "../support/database.ts";
import { startProxy } from "../support/proxy.ts";

const testDatabase = givenTestDatabase();

/** Connects to the same server, in order to close the tested database to all connections. */
let closedUrl: string;

beforeAll(async () => {
  const closedName = `${new URL(testDatabase.url).pathname.slice(1)}_closed`;
  closedUrl = databaseUrl(testDatabase.url, closedName);
  const sql = testDatabase.database.sql();
  await sql`create database ${sql(closedName)} allow_connections false`;
});

afterAll(async () => {
  const sql = testDatabase.database.sql();
  await sql`drop database ${sql(new URL(closedUrl).pathname.slice(1))}`;
});

async function faultOf(url: string, statement: string): Promise<string | undefined> {
  const database = openDatabase({ url, connectionsMax: 1 });
  const outcome = await database
    .sql()
    .unsafe(statement)
    .then(
      () => new Error("it went well"),
      (error: unknown) => error,
    );
  await database.close();
  return findDatabaseFault(outcome);
}

test("a database that takes no connections just now is away", async () => {
  expect(await faultOf(closedUrl, "select 1")).toBe("DATABASE_UNAVAILABLE");
});

test("a database that is not there is away", async () => {
  const url = databaseUrl(testDatabase.url, "no_such_database");
  expect(await faultOf(url, "select 1")).toBe("DATABASE_UNAVAILABLE");
});

/** Listens on a free port, which it returns, until the test ends. */
async function listen(server: Pick<Server, "listen" | "address" | "close">): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("a database whose certificate is not accepted is away", async () => {
  // smtp-server has a certificate of its own, which it signed itself.
  const mail = new SMTPServer({ secure: true, logger: false });
  mail.on("error", () => undefined);
  const tlsPort = await listen(mail.server);
  const port = await listen(
    createServer((socket) => {
      socket.on("error", () => undefined);
      // The request for TLS is the first message of a connection to Postgres; S accepts it.
      socket.once("data", () => {
        socket.pipe(connect(tlsPort, "127.0.0.1")).pipe(socket);
        socket.write("S");
      });
    }),
  );
  const url = `postgres://waggle@127.0.0.1:${port}/waggle?sslmode=verify-full`;

  expect(await faultOf(url, "select 1")).toBe("DATABASE_UNAVAILABLE");
});

test("a standby, which takes no writes yet, is away for them", async () => {
  const statement = "begin read only; create table t (); commit";
  expect(await faultOf(testDatabase.url, statement)).toBe("DATABASE_UNAVAILABLE");
});

test.each([
  "deadlock_detected",
  "serialization_failure",
  "out_of_memory",
  "disk_full",
  "io_error",
  "system_error",
])("a database that says %s can be asked again", async (condition) => {
  const statement = `do $$ begin raise ${condition}; end $$`;
  expect(await faultOf(testDatabase.url, statement)).toBe("DATABASE_UNAVAILABLE");
});

test.each(["EMFILE", "ENFILE"])("a database is away while no file can be opened: %s", (code) => {
  expect(findDatabaseFault(Object.assign(new Error(code), { code }))).toBe("DATABASE_UNAVAILABLE");
});

test("a connection that is lost while it opens does not end the service", async () => {
  const proxy = await startProxy(testDatabase.url);
  onTestFinished(() => proxy.shut());
  proxy.resetAt("typarray");

  const program = fileURLToPath(new URL("reading.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, proxy.url]);

  expect(stdout.split("\n")).toEqual(["ECONNRESET", "read", ""]);
});

test("a statement that is wrong is not the database's fault", async () => {
  expect(await faultOf(testDatabase.url, "select 1 / 0")).toBeUndefined();
});

// As Citus 13.2 says it.
test.each([
  { condition: "connection_failure", message: "connection to the remote node w failed" },
  { condition: "internal_error", message: "failure on connection marked as essential: w" },
  { condition: "internal_error", message: "server closed the connection unexpectedly" },
])(
  'a Citus coordinator that loses a worker, "$message", can be asked again',
  async ({ condition, message }) => {
    const statement = `do $$ begin raise ${condition} using message = '${message}'; end $$`;
    expect(await faultOf(testDatabase.url, statement)).toBe("DATABASE_UNAVAILABLE");
  },
);

test("an internal error of Postgres is none of these", async () => {
  const statement =
    "do $$ begin raise internal_error using message = 'cache lookup failed'; end $$";
  expect(await faultOf(testDatabase.url, statement)).toBeUndefined();
});
