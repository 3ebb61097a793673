// Receivers of notifications over real sockets, and alerts of a project.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { JsonObject } from "../../src/base/json.ts";
import { poster } from "./datasets.ts";
import type { Tenant } from "./tenants.ts";

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type Receiver = {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** `127.0.0.1:port`. */
  readonly host: string;
  /** Every request so far. */
  readonly received: Received[];
  /** Sets the statuses of the next answers; then 204 again. 0 gives no answer at all. */
  answer(...statuses: number[]): void;
  stop(): Promise<void>;
};

/** Starts a receiver of webhooks. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let next: readonly number[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body });
      const [status = 204, ...others] = next;
      next = others;
      if (status === 0) return;
      const location = status >= 300 && status < 400 ? { location: "/elsewhere" } : {};
      response.writeHead(status, location).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return {
    url: `http://${host}`,
    host,
    received,
    answer(...statuses) {
      next = statuses;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type MailReceiver = {
  /** `smtp://user:password@127.0.0.1:port`. */
  readonly url: string;
  readonly mails: { readonly to: readonly string[]; readonly text: string }[];
  stop(): Promise<void>;
};

/**
 * Starts an SMTP server with one account; it refuses mails to addresses at `refused.example`, and
 * puts the first mail to each address at `busy.example` off.
 */
export async function startMailReceiver(): Promise<MailReceiver> {
  const mails: MailReceiver["mails"] = [];
  const putOff = new Set<string>();
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      if (username === "waggle" && password === "secret") done(null, { user: username });
      else done(new Error("no such account"));
    },
    onRcptTo({ address }, _session, done) {
      const isBusy = address.endsWith("@busy.example") && !putOff.has(address);
      if (isBusy) putOff.add(address);
      if (!isBusy && !address.endsWith("@refused.example")) {
        done();
        return;
      }
      done(Object.assign(new Error("not now"), { responseCode: isBusy ? 450 : 550 }));
    },
    onData(stream, { envelope }, done) {
      let text = "";
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      stream.on("end", () => {
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://waggle:secret@127.0.0.1:${port}`,
    mails,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A key that seals the secrets of targets, as a flag. */
export const encryptionKeyFlag = `test:${Buffer.alloc(32, 7).toString("base64")}`;

/** Fields of an alert on the average duration of model events, to a webhook. */
export function anAlert(url: string, more: JsonObject = {}): JsonObject {
  return {
    name: "slow models",
    projections: ["duration"],
    frequency: "HOURLY",
    filters: [{ field: "event_type", operator: "is", value: "model" }],
    thresholds: { critical: { operator: ">", value: 1000 } },
    notification_details: { critical: { channel: "WEBHOOK", metadata: { url } } },
    ...more,
  };
}

/** Creates an alert whose webhooks go to a URL; returns its id. */
export async function addAlert(
  service: Parameters<typeof poster>[0],
  tenant: Tenant,
  url: string,
): Promise<string> {
  const post = await poster(service, tenant);
  return String((await post("/v1/alerts", anAlert(url))).data?.id);
}
