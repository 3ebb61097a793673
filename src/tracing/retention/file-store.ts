// Where files of deleted sessions go: a folder, or a bucket of an S3-compatible server. A file is
// complete and durable when `put` resolves. Source: docs/retention.md.

import { createWriteStream } from "node:fs";
import { type FileHandle, mkdir, mkdtemp, open, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import type { FilePlace } from "../../setting-parsers.ts";

export type FileStore = {
  /**
   * Stores a file under a name with slashes; replaces one of the same name. Fails if `signal` is
   * aborted, or if a bucket's server is silent for a minute.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
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
    async put(name, bytes, signal) {
      const path = join(folder, name);
      const part = `${path}.part`;
      await mkdir(dirname(path), { recursive: true });
      // `flush` has the file on the disk before it gets its name.
      await pipeline(bytes, createWriteStream(part, { flush: true, mode: 0o600 }), {
        signal,
      });
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

/** Most servers other than AWS take this region if none is set. */
const otherRegion = "us-east-1";
/** `socketTimeout` counts while nothing is sent or received. */
const limits = { connectionTimeout: 10_000, socketTimeout: 60_000 };

function createBucketStore(
  { bucket, prefix }: Extract<FilePlace, { readonly bucket: string }>,
  endpoint: string | undefined,
): FileStore {
  return {
    async put(name, bytes, signal) {
      // Loaded at the first file, since few services have any.
      const { PutObjectCommand } = await import("@aws-sdk/client-s3");
      const client = await openClient(endpoint);
      const { writer, reader } = await openNameless();
      const body = reader.createReadStream();
      try {
        // The size has to be known before the first byte is sent.
        await pipeline(bytes, writer.createWriteStream(), { signal });
        const { size } = await reader.stat();
        const file = new PutObjectCommand({
          Bucket: bucket,
          Key: prefix === "" ? name : `${prefix}/${name}`,
          Body: body,
          ContentLength: size,
        });
        await client.send(file, { abortSignal: signal });
      } finally {
        client.destroy();
        body.destroy();
      }
    },
  };
}

async function openClient(endpoint: string | undefined): Promise<S3Client> {
  const { S3Client } = await import("@aws-sdk/client-s3");
  const other = endpoint !== undefined && {
    endpoint,
    forcePathStyle: true,
    // Servers other than AWS may not know the newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED" as const,
  };
  const region = other && { region: await findRegion(new S3Client()) };
  return new S3Client({ logger: silent, requestHandler: limits, ...other, ...region });
}

const checkMsMax = 10_000;

/**
 * Asks for the name of one object and stores nothing. Returns why the bucket cannot be used, as far
 * as that shows: credentials that may store and not list are told from wrong ones, but whether they
 * may store is not known.
 */
export async function findBucketFault(
  bucket: string,
  endpoint: string | undefined,
): Promise<string | undefined> {
  const { ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  const client = await openClient(endpoint);
  const abortSignal = AbortSignal.timeout(checkMsMax);
  try {
    await client.send(new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 }), { abortSignal });
    return undefined;
  } catch (error) {
    if (abortSignal.aborted) return `no answer within ${checkMsMax / 1_000} s`;
    const { name, message } = error as Error;
    return name === "AccessDenied" ? undefined : `${name}: ${message}`;
  } finally {
    client.destroy();
  }
}

/** Returns the region as AWS's programs find it; `otherRegion` if none is set. */
async function findRegion({ config }: S3Client): Promise<string> {
  try {
    return await config.region();
  } catch {
    return otherRegion;
  }
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
