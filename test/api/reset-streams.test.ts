// HTTP/2 streams that their client resets: no work is done for those that it resets at once.
// Source: CVE-2023-44487 (rapid reset).

import { once } from "node:events";
import { connect, constants } from "node:http2";
import { afterEach, expect, test } from "vitest";
import { keyOf, startTransport, type TestTransport } from "../support/transport.ts";

let service: TestTransport | undefined;
afterEach(() => service?.stop());

test("streams that are reset at once are not served", async () => {
  const served: string[] = [];
  service = await startTransport({
    events: {
      getEvent: ({ eventId }) => {
        served.push(eventId);
        return { event: { eventId } };
      },
    },
  });
  const session = connect(service.url);
  await once(session, "remoteSettings");
  const get = (eventId: string) =>
    session.request({ ":path": `/v1/events/${eventId}`, authorization: keyOf("project") });

  const resets = Array.from({ length: 50 }, (_, index) => get(`reset-${index}`));
  for (const stream of resets) stream.on("error", () => undefined).close(constants.NGHTTP2_CANCEL);
  const kept = get("kept").resume();
  await once(kept, "end");
  session.destroy();

  expect(served).toEqual(["kept"]);
});
