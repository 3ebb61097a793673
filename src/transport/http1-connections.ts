// What runs on each HTTP/1.1 connection, so that a graceful end closes those, and only those, that
// have nothing under way. Node's own `closeIdleConnections` takes an answer for done once its last
// byte is queued, and cuts what the client has yet to read. Called by server.ts.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type Http1Connections = {
  /** Notes a request; its connection counts as busy until the answer is out or broken off. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** Closes idle connections now and the others behind their answers. */
  drain(): void;
};

type Connection = {
  readonly responses: Set<ServerResponse>;
  /** Bytes read when the last answer was out; more of them are the start of a next request. */
  bytesReadBefore: number;
};

export function createHttp1Connections(): Http1Connections {
  const connections = new Map<Socket, Connection>();
  let isDraining = false;

  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known) return known;
    const connection: Connection = { responses: new Set(), bytesReadBefore: 0 };
    connections.set(socket, connection);
    socket.once("close", () => connections.delete(socket));
    return connection;
  };

  return {
    begin({ socket }, response) {
      const connection = connectionOf(socket);
      connection.responses.add(response);
      if (isDraining) response.shouldKeepAlive = false;
      response.once("close", () => {
        connection.responses.delete(response);
        connection.bytesReadBefore = socket.bytesRead;
        if (isDraining && connection.responses.size === 0) socket.destroySoon();
      });
    },

    drain() {
      isDraining = true;
      for (const [socket, { responses, bytesReadBefore }] of connections) {
        if (responses.size === 0 && socket.bytesRead === bytesReadBefore) socket.destroySoon();
        // Tells the client, where the head of its answer is still to be written.
        for (const response of responses) response.shouldKeepAlive = false;
      }
    },
  };
}
