// Outcomes of mails and of checks of the server: which reason is told, and whether another attempt
// may help. The servers are real ones on loopback. Source: docs/alerts.md, "Delivery".

import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { expect, onTestFinished, test } from "vitest";
import { findMailFault, sendMail } from "../../../src/notifications/mail.ts";
import { findFreePort } from "../../support/free-port.ts";

async function givenAServer(options: SMTPServerOptions): Promise<string> {
  const server = new SMTPServer({ logger: false, ...options });
  // A client that leaves in the middle is part of these tests.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}

const letter = { id: "n1", to: ["ops@a.example"], subject: "s", text: "t" };
const send = (url: string) => sendMail({ url, from: "alerts@waggle.example" }, letter);
const refusing =
  (responseCode: number) =>
  (_address: unknown, _session: unknown, done: (error: Error) => void): void =>
    done(Object.assign(new Error("no"), { responseCode }));

test("a server that is down is told by the code of the socket", async () => {
  const outcome = await send(`smtp://127.0.0.1:${await findFreePort()}`);

  expect(outcome).toEqual({
    error: "the mail server refused or cannot be reached (ECONNREFUSED)",
    isFinal: false,
  });
});

test("a certificate that nobody knows is told", async () => {
  // smtp-server has a certificate of its own, which it signed itself.
  const outcome = await send(await givenAServer({ authOptional: true }));

  expect(outcome.error).toMatch(/\((?:CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE|ERR_TLS)_\w+\)$/);
  expect(outcome.isFinal).toBe(false);
});

const plain = { disabledCommands: ["STARTTLS"] };

test.each([
  { name: "a server that wants a password", options: plain, isFinal: false },
  {
    name: "a refused sender",
    options: { ...plain, authOptional: true, onMailFrom: refusing(550) },
    isFinal: false,
  },
  {
    name: "a refused address",
    options: { ...plain, authOptional: true, onRcptTo: refusing(550) },
    isFinal: true,
  },
  {
    name: "an address that is put off",
    options: { ...plain, authOptional: true, onRcptTo: refusing(450) },
    isFinal: false,
  },
])("after $name the end of a notification is $isFinal", async ({ options, isFinal }) => {
  const outcome = await send(await givenAServer(options));

  expect(outcome.error).toContain("EENVELOPE");
  expect(outcome.isFinal).toBe(isFinal);
});

test.each([
  { name: "the right password", password: "right", want: undefined },
  { name: "a wrong password", password: "wrong", want: "EAUTH, status 535" },
])("a check of the server with $name finds $want", async ({ password, want }) => {
  const url = new URL(
    await givenAServer({
      ...plain,
      allowInsecureAuth: true,
      onAuth: ({ password: given }, _session, done) =>
        given === "right" ? done(null, { user: "ann" }) : done(new Error(`not ${given}`)),
    }),
  );
  url.username = "ann";
  url.password = password;

  expect(await findMailFault(url.href)).toBe(want);
});
