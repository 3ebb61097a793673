// Chat messages of events: the shapes of OpenAI, Anthropic, Google and OpenTelemetry as one. Pure
// functions; an unknown part is kept as JSON, so that nothing is left out.

export type MessagePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "media"; readonly media: "image" | "audio"; readonly url: string }
  | {
      readonly kind: "tool-call";
      readonly id: string | undefined;
      readonly name: string;
      readonly input: unknown;
    }
  | { readonly kind: "tool-result"; readonly id: string | undefined; readonly output: unknown }
  | { readonly kind: "json"; readonly value: unknown };

export type ChatMessage = {
  /** `system`, `user`, `assistant`, `tool`, or any other word that was sent. */
  readonly role: string;
  readonly parts: readonly MessagePart[];
  /**
   * What a model thought before it answered. It is no part: a history that is sent again may leave
   * it out, and no question or answer is read from it.
   */
  readonly reasoning?: string;
};

/** Fields of a payload, whose values may be anything. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the messages in a value, if it is a list of messages or one message. */
export function toChatMessages(value: unknown): readonly ChatMessage[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0 || !list.every(isMessage)) return undefined;
  return list.map(toChatMessage);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isMessage(value: unknown): value is Fields {
  return isFields(value) && typeof value["role"] === "string";
}

/** Returns one message with its parts in the order in which they are read. */
export function toChatMessage(message: Fields): ChatMessage {
  const { role, content, parts, tool_calls: calls, tool_call_id: callId } = message;
  const isResult = typeof callId === "string";
  const body = content ?? parts;
  const list: readonly unknown[] = Array.isArray(body) ? body : [];
  const thoughtParts = list.map(thoughtOf);
  const spoken = list.filter((_, at) => thoughtParts[at] === undefined);
  const read = Array.isArray(body) ? spoken.flatMap(toPart) : toParts(body);
  const results = [{ kind: "tool-result" as const, id: String(callId), output: parsed(content) }];
  const thoughts = [...reasoningNames.map((name) => message[name]), ...thoughtParts];
  // Some gateways send the same under two names.
  const once = [...new Set(thoughts.filter(isWords))];
  return {
    role: String(role),
    parts: [
      ...(isResult ? results : read),
      ...(Array.isArray(calls) ? calls.filter(isFields).map(toToolCall) : []),
    ],
    ...(once.length > 0 && { reasoning: once.join("\n\n") }),
  };
}

/** Names of the APIs that speak OpenAI's; spans are stored under the first. */
const reasoningNames = ["reasoning", "reasoning_content"];

/** Returns what a model thought, if a part is that: those of Anthropic, Gemini and the AI SDK. */
function thoughtOf(part: unknown): string | undefined {
  if (!isFields(part)) return undefined;
  const { type, thought, text, content, thinking } = part;
  if (type !== "thinking" && type !== "reasoning" && thought !== true) return undefined;
  return [thinking, text, content].find(isWords);
}

function isWords(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function toParts(content: unknown): readonly MessagePart[] {
  if (content === null || content === undefined || content === "") return [];
  return typeof content === "string"
    ? [{ kind: "text", text: content }]
    : [{ kind: "json", value: content }];
}

function toPart(part: unknown): readonly MessagePart[] {
  if (!isFields(part)) return toParts(part);
  const { type, text, content } = part;
  const words = text ?? (type === "text" ? content : undefined);
  if (typeof words === "string") return [{ kind: "text", text: words }];
  const media = toMedia(part);
  if (media) return [media];
  const google = toGooglePart(part);
  if (google) return [google];
  switch (type) {
    case "tool_use":
    case "tool_call":
    case "tool-call":
      return [toToolCall(part)];
    case "tool_result":
    case "tool_call_response":
    case "tool-result":
      return [{ kind: "tool-result", id: idOf(part), output: outputOf(part) }];
    default:
      return [{ kind: "json", value: part }];
  }
}

/** Gemini names the kind of a part by its only member. */
function toGooglePart(part: Fields): MessagePart | undefined {
  const call = part["functionCall"] ?? part["function_call"];
  if (isFields(call)) return toToolCall(call);
  const result = part["functionResponse"] ?? part["function_response"];
  if (!isFields(result)) return undefined;
  return { kind: "tool-result", id: idOf(result), output: outputOf(result) };
}

function outputOf({ content, result, response, output }: Fields): unknown {
  return parsed(content ?? result ?? response ?? output);
}

function idOf({ tool_use_id: useId, tool_call_id: callId, toolCallId, id }: Fields) {
  const found = useId ?? callId ?? toolCallId ?? id;
  return typeof found === "string" ? found : undefined;
}

function toToolCall(call: Fields): MessagePart {
  const inner = isFields(call["function"]) ? call["function"] : call;
  const { name, toolName, arguments: given, input, args } = inner;
  return {
    kind: "tool-call",
    id: idOf(call),
    name: [name, toolName].find((one) => typeof one === "string") ?? "tool",
    input: parsed(given ?? input ?? args),
  };
}

/** Arguments and results are often JSON as text. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    // It only looked like JSON.
    return value;
  }
}

function toMedia(part: Fields): MessagePart | undefined {
  const url = urlOf(part);
  // Only data in the event itself: an address of another host would tell it who looks.
  const media = /^data:(image|audio)\/[\w.+-]+;base64,/.exec(url ?? "")?.[1];
  if (url === undefined || (media !== "image" && media !== "audio")) return undefined;
  return { kind: "media", media, url };
}

function urlOf(part: Fields): string | undefined {
  const { image_url: image, input_audio: audio, source, url, uri, data } = part;
  const inline = part["inlineData"] ?? part["inline_data"];
  const wrapped = openInferenceUrl(part);
  if (wrapped !== undefined) return wrapped;
  if (typeof image === "string") return image;
  if (isFields(image) && typeof image["url"] === "string") return image["url"];
  if (isFields(audio)) return dataUrl(`audio/${String(audio["format"])}`, audio["data"]);
  for (const holder of [inline, source]) {
    if (!isFields(holder)) continue;
    const type = holder["media_type"] ?? holder["mime_type"] ?? holder["mimeType"];
    return dataUrl(String(type), holder["data"]);
  }
  if (typeof url === "string") return url;
  if (typeof uri === "string") return uri;
  const type = part["mediaType"] ?? part["media_type"] ?? part["mime_type"];
  return dataUrl(String(type), data ?? contentOfBlob(part) ?? part["image"]);
}

/** OpenInference wraps an address twice: `image: {image: {url}}`, and so for audio. */
function openInferenceUrl(part: Fields): string | undefined {
  for (const name of ["image", "audio"]) {
    const outer = part[name];
    const inner = isFields(outer) ? outer[name] : undefined;
    if (isFields(inner) && typeof inner["url"] === "string") return inner["url"];
  }
  return undefined;
}

/** OpenTelemetry names bytes `blob`, Pydantic AI's earlier form `binary`. */
function contentOfBlob({ type, content }: Fields): unknown {
  return type === "blob" || type === "binary" ? content : undefined;
}

/** The AI SDK sends an address where it was given one in place of bytes. */
function dataUrl(type: string, data: unknown): string | undefined {
  if (typeof data !== "string") return undefined;
  return data.startsWith("data:") ? data : `data:${type};base64,${data}`;
}
