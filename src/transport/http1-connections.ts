// Tracks the requests on each HTTP/1.1 connection, so that a graceful end closes only idle ones.
// Node's `closeIdleConnections` treats an answer as complete once its last byte is queued, and so
// cuts bytes that the client has not read.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type Http1Connections = {
  /** Adds a request; its connection is busy until the answer is sent or broken off. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** Closes each connection after its next answer, which says so. */
  leave(): void;
  /** Closes idle connections now and the others after their answers. */
  drain(): void;
};

type Connection = {
  readonly responses: Set<ServerResponse>;
  /** Bytes read when the last answer was sent; more bytes are the start of another request. */
  bytesReadBefore: number;
};

export function createHttp1Connections(): Http1Connections {
  const connections = new Map<Socket, Connection>();
  let isLeaving = false;

  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known) return known;
    const connection: Connection = { responses: new Set(), bytesReadBefore: 0 };
    connections.set(socket, connection);
    socket.once("close", () => connections.delete(socket));
    return connection;
  };

  function leave(): void {
    isLeaving = true;
    for (const { responses } of connections.values()) {
      // Sends `connection: close` if the answer's head is not written.
      for (const response of responses) response.shouldKeepAlive = false;
    }
  }

  return {
    begin({ socket }, response) {
      const connection = connectionOf(socket);
      connection.responses.add(response);
      if (isLeaving) response.shouldKeepAlive = false;
      response.once("close", () => {
        connection.responses.delete(response);
        connection.bytesReadBefore = socket.bytesRead;
        if (isLeaving && connection.responses.size === 0) socket.destroySoon();
      });
    },

    leave,

    drain() {
      leave();
      for (const [socket, { responses, bytesReadBefore }] of connections) {
        if (responses.size === 0 && socket.bytesRead === bytesReadBefore) socket.destroySoon();
      }
    },
  };
}
