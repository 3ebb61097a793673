// Files from the service: read by their REST address, with the bytes counted as they arrive.

import { ApiError } from "./errors.ts";
import { hasSignedInAgain } from "./transport.ts";

export type FileRequest = {
  readonly projectId: string;
  /** Path with its query, such as `/v1/datasets/<id>/export`. */
  readonly path: string;
  /** Media type of the file. */
  readonly accept: string;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
};

/**
 * Reads a file, after the next sign-in if the sign-in has ended. Fails with an ApiError, also when
 * the stream breaks off.
 */
export async function readFile(request: FileRequest): Promise<Blob> {
  const { accept, signal, onBytes } = request;
  try {
    let response = await send(request);
    if (response.status === 404 && (await hasSignedInAgain(signal))) response = await send(request);
    if (!response.ok || !response.body) {
      throw await toError(response);
    }
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    const reader = response.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      bytes += part.value.byteLength;
      onBytes(bytes);
    }
    return new Blob(parts, { type: accept });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("The connection broke before the file was whole.", {
      errorCode: "UNREACHABLE",
      isTransient: true,
      cause: error,
    });
  }
}

function send({ projectId, path, accept, signal }: FileRequest): Promise<Response> {
  // oxlint-disable-next-line no-restricted-globals -- a file is not a message of Connect
  return fetch(path, {
    credentials: "same-origin",
    headers: { accept, "x-project-id": projectId },
    signal,
  });
}

async function toError(response: Response): Promise<ApiError> {
  const { status } = response;
  const isTransient = status >= 500 || status === 429;
  const unexplained = `The service answered with status ${status}.`;
  try {
    const body = (await response.json()) as { message?: string; errorCode?: string };
    const { message = unexplained, errorCode = "EXPORT_FAILED" } = body;
    return new ApiError(message, { errorCode, isTransient });
  } catch {
    // A proxy in between answers with a page of its own.
    return new ApiError(unexplained, { errorCode: "EXPORT_FAILED", isTransient });
  }
}

/** Hands a file to the browser under a name. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
