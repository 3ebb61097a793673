// Bodies as they are read: complete for any division into parts, and counted with the memory of
// their decoder.

import { once } from "node:events";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createByteBudget, type Reservation } from "../../../src/base/byte-budget.ts";
import { dropBody } from "../../../src/transport/body-parts.ts";
import { readBody } from "../../../src/transport/body.ts";

const MB = 1_000_000;

function read(parts: readonly Buffer[], encoding: string | undefined, reservation: Reservation) {
  const source = Readable.from(parts, { objectMode: false });
  const limits = { bytesMax: 64 * MB, stallMs: 10_000, declaredBytes: undefined };
  return readBody(source, { ...limits, encoding, reservation });
}

const encoders = {
  gzip: gzipSync,
  br: (bytes: Buffer) => brotliCompressSync(bytes),
  zstd: (bytes: Buffer) => zstdCompressSync(bytes),
};

describe("readBody", () => {
  test("returns the bytes of all parts, small and large, and counts them", async () => {
    const part = fc.tuple(fc.constantFrom(1, 100, 20_000, 70_000), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (sizes) => {
        const parts = sizes.map(([size, byte]) => Buffer.alloc(size, byte));
        const want = Buffer.concat(parts);
        const reservation = createByteBudget(Infinity).open();

        const got = await read(parts, undefined, reservation);

        expect(got.equals(want)).toBe(true);
        expect(reservation.bytes()).toBe(want.length);
      }),
      { numRuns: 50 },
    );
  });

  test.each(["gzip", "br", "zstd"] as const)("returns what %s inflates to", async (encoding) => {
    const text = Buffer.from(Array.from({ length: 100_000 }, (_, index) => `${index},`).join(""));
    const compressed = encoders[encoding](text);
    const half = compressed.length >> 1;
    const reservation = createByteBudget(Infinity).open();

    const parts = [compressed.subarray(0, half), compressed.subarray(half)];
    const got = await read(parts, encoding, reservation);

    expect(got.equals(text)).toBe(true);
    expect(reservation.bytes()).toBe(text.length);
  });

  test("gives up at once where the request was reset before", async () => {
    // As Node leaves the request of a stream that was reset: ended and read, yet not destroyed.
    const source = new Readable({ autoDestroy: false, read: () => undefined });
    source.push(null);
    await once(source.resume(), "end");
    const limits = { bytesMax: MB, stallMs: 2_000, encoding: undefined, declaredBytes: undefined };

    const body = readBody(source, { ...limits, reservation: createByteBudget(Infinity).open() });

    await expect(body).rejects.toMatchObject({ reason: "MALFORMED_BODY" });
  });

  test("frees the parts that are copied", async () => {
    const parts = [Buffer.alloc(70_000, 1), Buffer.alloc(70_000, 2)];

    const got = await read(parts, undefined, createByteBudget(Infinity).open());

    expect(parts.map(({ buffer }) => buffer.byteLength)).toEqual([0, 0]);
    expect([got.length, got[0], got.at(-1)]).toEqual([140_000, 1, 2]);
  });

  test("returns its bytes to the budget when it is dropped", async () => {
    const reservation = createByteBudget(Infinity).open();
    const body = await read([Buffer.alloc(MB), Buffer.alloc(MB)], undefined, reservation);

    dropBody(body, reservation);

    expect([reservation.bytes(), body.length]).toEqual([0, 0]);
  });

  test("lets a large body wait for the garbage of others", async () => {
    const collection = Promise.withResolvers<undefined>();
    const reservation = createByteBudget(Infinity).open();
    const waiting = { ...reservation, collection: () => collection.promise };
    let isRead = false;
    const parts = [Buffer.alloc(MB), Buffer.alloc(MB), Buffer.alloc(MB)];

    const body = read(parts, undefined, waiting).finally(() => (isRead = true));
    await delay(50);
    const wasRead = isRead;
    collection.resolve(undefined);

    expect((await body).length).toBe(3 * MB);
    expect(wasRead).toBe(false);
  });

  // Each decoder holds so much of the body once more, which gzip does not.
  test.each([
    { encoding: "br", bytes: 20 * MB, peak: 20 * MB + 16_777_216 },
    { encoding: "zstd", bytes: 20 * MB, peak: 20 * MB + 8_388_608 },
    { encoding: "zstd", bytes: 2 * MB, peak: 4 * MB },
    { encoding: "gzip", bytes: 20 * MB, peak: 20 * MB },
  ] as const)("counts what a decoder of $encoding holds of $bytes bytes", async (row) => {
    const compressed = encoders[row.encoding](Buffer.alloc(row.bytes));

    await expect(
      read([compressed], row.encoding, createByteBudget(row.peak - 1).open()),
    ).rejects.toMatchObject({ reason: "OVERLOADED" });
    const enough = createByteBudget(row.peak).open();
    await read([compressed], row.encoding, enough);

    expect(enough.bytes()).toBe(row.bytes);
  });
});
