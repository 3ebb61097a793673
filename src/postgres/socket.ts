// The socket of a connection. The driver's own would reconnect without a pause, and for ever, to a
// proxy that accepts connections and closes them while its Postgres is away.

import { connect, type Socket } from "node:net";

/** What the parsed options say of the servers; `host` and `port` have an entry for each. */
type Address = {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** The path of a unix socket. */
  readonly path: string | false;
};

/** A request to cancel a statement has this size, and Postgres closes its connection unanswered. */
const cancelRequestBytes = 16;

/** Returns what opens sockets for the driver; each goes to the next of the servers. */
export function socketOpener(): (address: Address) => Socket {
  let opened = 0;
  return ({ host, port, path }) => {
    const at = opened++ % host.length;
    const socket =
      path === false
        ? // The driver reads the host and port of a socket for TLS and errors.
          Object.assign(connect(port[at] ?? 0, host[at]), { host: host[at], port: port[at] })
        : connect(path);
    return failUnanswered(socket);
  };
}

/** Makes the end of a connection an error if the server has sent nothing. */
function failUnanswered(socket: Socket): Socket {
  return socket.once("end", () => {
    if (socket.bytesRead > 0 || socket.bytesWritten === cancelRequestBytes) return;
    const message = "the server closed the connection before it answered";
    socket.destroy(Object.assign(new Error(message), { code: "CONNECTION_CLOSED" }));
  });
}
