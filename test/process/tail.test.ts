// `waggle events tail` while its service is away: it waits, goes on where it was, and says so.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { startForCommands } from "../support/command-line.ts";
import { givenStarted } from "../support/given.ts";
import { patience } from "../support/patience.ts";
import { run } from "../support/process.ts";

const called = givenStarted(startForCommands);

type Fault = (response: ServerResponse) => void;

/** Starts a server that hands calls on to the service, except while it has a fault for them. */
async function givenABalancer() {
  let fault: Fault | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void answer(request.url ?? "", Buffer.concat(chunks), response));
  });
  async function answer(path: string, body: Buffer, response: ServerResponse): Promise<void> {
    if (fault) {
      fault(response);
      return;
    }
    const headers = {
      authorization: `Bearer ${called.project.key}`,
      "content-type": "application/json",
    };
    const got = await fetch(`${called.service.url}${path}`, { method: "POST", headers, body });
    const type = got.headers.get("content-type") ?? "";
    response.writeHead(got.status, { "content-type": type }).end(await got.text());
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, fail: (with_: Fault | undefined) => (fault = with_) };
}

function event(event_id: string) {
  const common = { event_type: "tool", event_name: "lookup", session_id: "s", source: "test" };
  return { ...common, event_id, inputs: {} };
}

/** Starts `tail` on a server, and waits until it prints. */
async function givenATail(url: string, prefix: string) {
  const tail = run("events", "tail", "--url", url, "--key-file", called.keyFile);
  let sent = 0;
  await vi.waitFor(async () => {
    await called.project.ok("POST /events", { event: event(`${prefix}-first${sent++}`) });
    expect(tail.output()).toContain(`"${prefix}-first`);
  }, patience);
  return tail;
}

const away: Fault = (response) => {
  const headers = { "content-type": "application/json", "retry-after": "2" };
  response.writeHead(503, headers).end('{"errorCode":"DATABASE_UNAVAILABLE"}');
};
const dropping: Fault = (response) => response.destroy();
/** Announces more than it sends. */
const breaking: Fault = (response) => {
  const headers = { "content-type": "application/json", "content-length": "100" };
  response.writeHead(200, headers).write("{");
  response.socket?.end();
};

test.each([
  { name: "says 503", fault: away, said: "503: DATABASE_UNAVAILABLE; try again in 2 s; tail goes" },
  { name: "drops connections", fault: dropping, said: "cannot be reached: " },
  { name: "breaks answers off", fault: breaking, said: "the answer broke off: " },
])("goes on where it was after a service that $name", async ({ name, fault, said }) => {
  const balancer = await givenABalancer();
  const prefix = name.replaceAll(" ", "-");
  const tail = await givenATail(balancer.url, prefix);

  balancer.fail(fault);
  await vi.waitFor(() => expect(tail.output()).toContain(said), patience);
  const missed = Array.from({ length: 450 }, (_, at) => event(`${prefix}-missed${at}`));
  await called.project.ok("POST /events/batch", { events: missed });
  balancer.fail(undefined);

  await vi.waitFor(() => {
    expect(tail.output().match(/"event_id":"[^"]*-missed/g)).toHaveLength(450);
  }, patience);
  expect(tail.output()).toContain("the service answers again\n");
  tail.kill("SIGTERM");
  const { code, output } = await tail.ended();
  const ids = Array.from(output.matchAll(/"event_id":"([^"]+)"/g), ([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(code).toBe(0);
});

test("ends at an answer that another try would not change", async () => {
  const balancer = await givenABalancer();
  const tail = await givenATail(balancer.url, "refused");

  balancer.fail((response) => {
    const headers = { "content-type": "application/json" };
    response.writeHead(404, headers).end('{"errorCode":"NOT_FOUND","message":"Not found"}');
  });

  const { code, output } = await tail.ended();
  expect(code).toBe(1);
  expect(output).toContain("waggle: POST /v1/events/search: 404: Not found; the key of");
});

test("stops at once while it waits", async () => {
  const balancer = await givenABalancer();
  const tail = await givenATail(balancer.url, "stopped");
  balancer.fail((response) => {
    response.writeHead(503, { "content-type": "application/json", "retry-after": "500" }).end("{}");
  });
  await vi.waitFor(() => expect(tail.output()).toContain("tail goes on in 500 s"), patience);

  tail.kill("SIGINT");

  expect(await tail.ended()).toMatchObject({ code: 0 });
});

test("says at once that a service is away from the beginning", async () => {
  const balancer = await givenABalancer();
  balancer.fail(away);
  const words = ["events", "tail", "--url", balancer.url, "--key-file", called.keyFile];

  const got = await run(...words).ended();

  const output = "waggle: POST /v1/events/search: 503: DATABASE_UNAVAILABLE; try again in 2 s\n";
  expect(got).toEqual({ code: 1, output });
});
