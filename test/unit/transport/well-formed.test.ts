// Answers in Protobuf's JSON: halves of surrogate pairs in texts, and what stays as it is.

import { create, fromJson, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ExportEventsResponseSchema } from "../../../gen/waggle/v1/export_pb.js";
import { StreamEventsResponseSchema } from "../../../gen/waggle/v1/export_pb.js";
import { withWellFormedTexts } from "../../../src/transport/encode/well-formed.ts";

describe("withWellFormedTexts", () => {
  test("replaces halves of characters in texts, so that Protobuf's reader takes the answer", () => {
    const odd = { eventName: "a\ud83d", childrenIds: ["b", "\udc00"], inputs: { key: "\ud83d" } };
    const page = create(ExportEventsResponseSchema, { events: [{ eventId: "🐝" }, odd] });

    const got = withWellFormedTexts(ExportEventsResponseSchema, page);

    expect(got.events[1]).toMatchObject({
      eventName: "a\ufffd",
      childrenIds: ["b", "\ufffd"],
      inputs: { key: "\ud83d" },
    });
    expect(got.events[0]).toBe(page.events[0]);
    expect(page.events[1]?.eventName).toBe("a\ud83d");
    const json = toJson(ExportEventsResponseSchema, got);
    expect(fromJson(ExportEventsResponseSchema, json)).toEqual(got);
  });

  test("replaces them in a choice of messages", () => {
    const item = { case: "event", value: { error: "\ud83d" } } as const;

    const got = withWellFormedTexts(
      StreamEventsResponseSchema,
      create(StreamEventsResponseSchema, { item }),
    );

    expect(got.item.value).toMatchObject({ error: "\ufffd" });
  });

  test("returns an answer without such texts itself", () => {
    const page = create(ExportEventsResponseSchema, { events: [{ eventName: "🐝 \0 é" }] });

    expect(withWellFormedTexts(ExportEventsResponseSchema, page)).toBe(page);
  });
});
