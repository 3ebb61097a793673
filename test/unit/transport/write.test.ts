// Answers whose client went away before they were written: their work ends at once.

import { connect, constants, createServer, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { NodeResponse } from "../../../src/transport/exchange.ts";
import { endAnswer, writePieces } from "../../../src/transport/write.ts";

/** Returns the response to a request whose client has reset its stream. */
async function givenAResetStream(): Promise<NodeResponse> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const client = connect(`http://localhost:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => client.destroy());
  const received = new Promise<Http2ServerResponse>((resolve) => {
    server.once("request", (_, response) => resolve(response));
  });
  const request = client.request({ ":method": "POST", ":path": "/" });
  request.on("error", () => undefined);
  const response = await received;
  const closed = new Promise((resolve) => response.once("close", resolve));
  request.close(constants.NGHTTP2_CANCEL);
  await closed;
  return response as unknown as NodeResponse;
}

test("an answer to a stream that was reset ends at once", { timeout: 60_000 }, async () => {
  const response = await givenAResetStream();

  await expect(endAnswer(response, Buffer.alloc(1_000))).resolves.toBeUndefined();
  await expect(endAnswer(response)).resolves.toBeUndefined();
});

test("a piece for a stream that was reset fails at once", { timeout: 60_000 }, async () => {
  const response = await givenAResetStream();

  const writing = writePieces(response, response, Buffer.alloc(1_000));

  await expect(writing).rejects.toThrow("the client went away");
});
