// Short commands whose database does not answer, or refuses what they ask.

import { expect, test, vi } from "vitest";
import { givenTestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { givenAnEmptyDataFolder, run } from "../support/process.ts";
import { aFreePort } from "../support/socket.ts";

const own = givenTestDatabase();

test.each(["keys list", "migrate"])("waggle %s says what it waits for", async (words) => {
  const port = await aFreePort();
  const url = `postgres://waggle:secret@127.0.0.1:${port}/waggle`;

  const command = run(...words.split(" "), "--database-url", url);
  const said = `waiting for the database at 127.0.0.1:${port}…\n`;
  await vi.waitFor(() => expect(command.output()).toContain(said), patience);
  command.kill("SIGTERM");

  const { code, output } = await command.ended();
  expect(code).toBe(1);
  expect(output).toBe(`${said}waggle: stopped by SIGTERM before it was done\n`);
});

test.each([
  "members add --email ada@example.org --role system_admin",
  "start-once --port 0 --operator-port 0 --workflows off",
])("a database that takes no writes is no fault of the program: %s", async (words) => {
  const url = new URL(own.url);
  url.searchParams.set("default_transaction_read_only", "on");
  const flags = ["--data", await givenAnEmptyDataFolder(), "--database-url", url.href];

  const { code, output } = await run(...words.split(" "), ...flags).ended();

  expect(code).toBe(1);
  expect(output).toMatch(
    /^(?:.*…\n)*waggle: the database failed: .* in a read-only transaction\n$/,
  );
});

test("a database that refuses the user is told from one that is away", async () => {
  const url = new URL(own.url);
  url.pathname = "/no_such_database";

  const { code, output } = await run("keys", "list", "--database-url", url.href).ended();

  expect(code).toBe(1);
  expect(output).toMatch(/^waggle: the database refuses the connection: .*does not exist\n$/);
});

test.each([
  {
    host: "192.0.2.1",
    command: ["serve", "--database-url", "postgres://waggle@127.0.0.1:1/waggle"],
  },
  { host: "no-such-host.invalid", command: ["start-once", "--data", "/tmp/waggle-no-such-folder"] },
])("an --operator-host of another machine, $host, ends the start", async ({ host, command }) => {
  const { code, output } = await run(...command, "--operator-host", host).ended();

  expect(code).toBe(1);
  expect(output).toBe(
    `waggle: ${host} is not an address of this machine: choose another with --operator-host\n`,
  );
});
