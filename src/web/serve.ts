// Serves the built web app: its page at `/` and under `/app` and `/reference`, its files under
// `/assets`. All files are read into memory once, compressed at build time; until they are there,
// the page says so.

import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "../base/logger.ts";
import { compressBody, type Encoding } from "../transport/compression.ts";
import { type Exchange, headerOf, isRead, writeAnswer } from "../transport/exchange.ts";
import type { PageRoute } from "../transport/pages.ts";
import type { Build } from "../base/build.ts";
import { distFolder, startWebBuild } from "./build.ts";

export type WebAppOptions = {
  readonly logger: Pick<Logger, "info" | "error">;
  /** How people sign in; the page tells the app. */
  readonly signIn: "provider" | "link";
  /** Builds the app if it is not built yet; stands in for `startWebBuild` in tests. */
  readonly build?: () => Build;
  readonly folder?: string;
};

export type WebApp = {
  readonly route: PageRoute;
  /** Settles when the app can be served, or could not be built. Never fails. */
  readonly ready: Promise<void>;
  /** Ends a build that still runs. */
  stop(): Promise<void>;
};

/**
 * The page runs only files of this origin, and calls only this origin. No style and no script
 * stands inside the page; images and audio may also come out of events, as `data:` and `blob:`.
 * Source: Content Security Policy Level 3.
 */
const appPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "object-src 'none'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy": appPolicy,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** The name of each file has a hash of its content, so that it never changes. */
const assetHeaders = {
  "cache-control": "public, max-age=31536000, immutable",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
} as const;

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

type File = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly encoded: Readonly<Partial<Record<Encoding, Buffer>>>;
};

type Files = ReadonlyMap<string, File>;

/** Endings of the compressed forms that the build writes beside each file. */
const encodings = { ".zst": "zstd", ".br": "br", ".gz": "gzip" } as const;

export function createWebApp(options: WebAppOptions): WebApp {
  const { logger, folder = distFolder } = options;
  const build = (options.build ?? startWebBuild)();
  let files: Files | undefined;
  let hasFailed = false;
  const load = async (): Promise<void> => {
    try {
      await build.done;
      files = await readBuild(folder, options.signIn);
    } catch (err) {
      if (build.isStopped()) return;
      hasFailed = true;
      logger.error({ err }, "the web app could not be built; the API is not affected");
    }
  };
  return {
    ready: load(),
    route: {
      matches: (exchange) =>
        isRead(exchange) && (isPagePath(exchange.path) || files?.has(exchange.path) === true),
      serve: (exchange) =>
        files === undefined
          ? writeAnswer(exchange, waitingAnswer(hasFailed))
          : serveFile(exchange, fileOf(files, exchange.path)),
    },
    stop: () => build.stop(),
  };
}

const pageFolders = ["/app", "/reference"];

function isPagePath(path: string): boolean {
  return path === "/" || pageFolders.some((one) => path === one || path.startsWith(`${one}/`));
}

function fileOf(files: Files, path: string): File {
  const file = files.get(isPagePath(path) ? "/index.html" : path);
  if (!file) throw new Error("a path that does not match");
  return file;
}

async function serveFile(exchange: Exchange, { headers, body, encoded }: File): Promise<void> {
  const { etag } = headers;
  if (etag !== undefined && headerOf(exchange.request, "if-none-match") === etag) {
    return writeAnswer(exchange, { status: 304, headers, body: Buffer.alloc(0) });
  }
  await writeAnswer(exchange, {
    status: 200,
    headers,
    body,
    // The page itself has no compressed forms beside it: it is made when the service starts.
    compress: async (encoding) => encoded[encoding] ?? compressBody(encoding, body),
  });
}

function waitingAnswer(hasFailed: boolean) {
  const text = hasFailed
    ? "The web app could not be built; the log of the service says why. The API works."
    : "The web app is being built, which takes some seconds. This page shows it then.";
  return {
    status: 503,
    headers: {
      ...pageHeaders,
      "cache-control": "no-store",
      "retry-after": "2",
      ...(hasFailed ? {} : { refresh: "2" }),
    },
    body: Buffer.from(
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Waggle</title>' +
        '<meta name="viewport" content="width=device-width"></head>' +
        `<body><h1>Waggle</h1><p>${text}</p></body></html>\n`,
    ),
  };
}

const readsMax = 50;
const readAgainMs = 100;

/** Reads the files of one build: another process may put its own in their place meanwhile. */
async function readBuild(folder: string, signIn: string): Promise<Files> {
  for (let reads = 1; ; reads += 1) {
    try {
      const { ino } = await stat(folder);
      const files = await readFiles(folder, signIn);
      if ((await stat(folder)).ino === ino) return files;
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!isAbsent || reads >= readsMax) throw error;
    }
    await setTimeout(readAgainMs);
  }
}

async function readFiles(folder: string, signIn: string): Promise<Files> {
  const files = new Map<string, File>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths) {
    const type = contentTypes[extname(path)];
    if (type === undefined) continue;
    const url = path.slice(folder.length).replaceAll("\\", "/");
    files.set(url, await readOne(path, type, paths));
  }
  const page = files.get("/index.html");
  if (!page) throw new Error(`${folder} has no index.html`);
  files.set("/index.html", toPage(page.body.toString(), signIn));
  return files;
}

async function readOne(path: string, type: string, paths: readonly string[]): Promise<File> {
  const encoded: Partial<Record<Encoding, Buffer>> = {};
  for (const [ending, encoding] of Object.entries(encodings)) {
    if (paths.includes(path + ending)) encoded[encoding] = await readFile(path + ending);
  }
  const headers = { ...assetHeaders, "content-type": type };
  return { headers, body: await readFile(path), encoded };
}

/**
 * Returns the page with the way to sign in, which belongs to the deployment and not to the build.
 */
function toPage(html: string, signIn: string): File {
  const marked = html.replace('content="sign-in"', `content="${signIn}"`);
  const body = Buffer.from(marked);
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  return { headers: { ...pageHeaders, etag }, body, encoded: {} };
}
