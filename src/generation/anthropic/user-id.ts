// Reads `metadata.user_id` of a request of the Messages API: a user, in which coding agents also
// write the session of their calls. Source: the Anthropic API reference, Messages; requests of
// Claude Code 2 (JSON) and 1 (text).

import { isRecordId } from "../../base/ids.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { textOf } from "../openai/answer.ts";

export type UserId = {
  readonly user?: string | undefined;
  /** Id that a session can have; absent if the caller writes none. */
  readonly sessionId?: string | undefined;
};

export function readUserId({ metadata }: JsonObject): UserId {
  const text = isJsonObject(metadata) ? textOf(metadata["user_id"]) : undefined;
  if (text === undefined) return {};
  const { user, sessionId } = text.startsWith("{") ? readParts(text) : splitText(text);
  return { user, ...(sessionId !== undefined && isRecordId(sessionId) && { sessionId }) };
}

function readParts(text: string): UserId {
  const parts = tryParseJson(text);
  if (!isJsonObject(parts)) return { user: text };
  const user = textOf(parts["account_uuid"]) ?? textOf(parts["device_id"]) ?? text;
  return { user, sessionId: textOf(parts["session_id"]) };
}

function splitText(text: string): UserId {
  const [, user, sessionId] = /^(.+)_session_([\w-]+)$/.exec(text) ?? [];
  return user === undefined ? { user: text } : { user, sessionId };
}
