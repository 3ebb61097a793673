// A bare TCP client that sends given bytes and collects the received ones.

import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export type RawConnection = {
  readonly socket: Socket;
  send(bytes: string | Uint8Array): void;
  /** Returns the text received so far. */
  received(): string;
  /** Resolves with all text when the server closes; rejects after `timeoutMs`. */
  closed(timeoutMs: number): Promise<string>;
  /** Resolves when the received text matches; rejects after `timeoutMs`. */
  until(pattern: RegExp, timeoutMs?: number): Promise<string>;
};

export function openRaw(url: string): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let text = "";
  let isClosed = false;
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  // A reset is one way of closing.
  socket.on("error", () => undefined);
  socket.on("close", () => (isClosed = true));

  const poll = (isDone: () => boolean, what: string, timeoutMs: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (!isDone()) return;
        stop();
        resolve(text);
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`${what} did not happen within ${timeoutMs} ms; received: ${text}`));
      }, timeoutMs);
      const stop = (): void => {
        clearTimeout(timer);
        socket.off("data", check).off("close", check);
      };
      socket.on("data", check).on("close", check);
      check();
    });

  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    received: () => text,
    closed: (timeoutMs) => poll(() => isClosed, "the close", timeoutMs),
    until: (pattern, timeoutMs = 30_000) =>
      poll(() => pattern.test(text), String(pattern), timeoutMs),
  };
}

/** Returns a port that was free a moment ago. */
export async function aFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  const { port } = server.address() as AddressInfo;
  await new Promise((settle) => server.close(settle));
  return port;
}
