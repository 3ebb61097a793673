// Where files of deleted sessions go: a folder, or a bucket of an S3-compatible server. A file is
// complete and durable when `put` resolves. Source: docs/retention.md.

import { createWriteStream } from "node:fs";
import { type FileHandle, mkdir, mkdtemp, open, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { FilePlace } from "../../setting-parsers.ts";

export type FileStore = {
  /** Stores a file under a name with slashes; replaces one of the same name. */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
};

/**
 * Returns the store of a place. Credentials of a bucket are those of the machine, as AWS's programs
 * find them. `endpoint` is the origin of a server that replaces AWS.
 */
export function createFileStore(place: FilePlace, endpoint: string | undefined): FileStore {
  return place.bucket === undefined
    ? createFolderStore(place.folder)
    : createBucketStore(place, endpoint);
}

function createFolderStore(folder: string): FileStore {
  return {
    async put(name, bytes) {
      const path = join(folder, name);
      const part = `${path}.part`;
      await mkdir(dirname(path), { recursive: true });
      // `flush` has the file on the disk before it gets its name.
      await pipeline(bytes, createWriteStream(part, { flush: true, mode: 0o600 }));
      await rename(part, path);
      const parent = await open(dirname(path));
      try {
        await parent.sync();
      } finally {
        await parent.close();
      }
    },
  };
}

/** The errors that the client would print are thrown as well. */
const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** AWS demands a region; other servers take any. */
const otherRegion = "us-east-1";

function createBucketStore(
  { bucket, prefix }: Extract<FilePlace, { readonly bucket: string }>,
  endpoint: string | undefined,
): FileStore {
  const other = endpoint !== undefined && {
    endpoint,
    region: otherRegion,
    forcePathStyle: true,
    // Servers other than AWS may not know the newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED" as const,
  };
  return {
    async put(name, bytes) {
      // Loaded at the first file, since few services have any.
      const { PutObjectCommand, S3Client } = await import("@aws-sdk/client-s3");
      const client = new S3Client({ logger: silent, ...other });
      const { writer, reader } = await openNameless();
      const body = reader.createReadStream();
      try {
        // The size has to be known before the first byte is sent.
        await pipeline(bytes, writer.createWriteStream());
        const { size } = await reader.stat();
        await client.send(
          new PutObjectCommand({
            Bucket: bucket,
            Key: prefix === "" ? name : `${prefix}/${name}`,
            Body: body,
            ContentLength: size,
          }),
        );
      } finally {
        client.destroy();
        body.destroy();
      }
    },
  };
}

/** Opens a temporary file without a name, so that nothing of it is left after a crash. */
async function openNameless(): Promise<Record<"writer" | "reader", FileHandle>> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-retention-"));
  const path = join(folder, "file.parquet");
  try {
    return { writer: await open(path, "wx", 0o600), reader: await open(path) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
