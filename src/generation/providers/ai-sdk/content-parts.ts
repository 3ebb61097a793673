// Converts the content of OpenAI messages (text, images, audio, files) to parts of the Vercel AI
// SDK. No URL is fetched here: it is passed on if the provider's API accepts URLs.
// Source: docs/generations.md.

import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider";
import { faultOfChoice } from "../../../base/choices.ts";
import { refuse } from "../../../base/errors.ts";
import { isJsonArray } from "../../../base/json.ts";
import type { ProviderType } from "../../provider.ts";
import { type Fields, type Item, itemFields, untranslatable } from "../../openai/fields.ts";

export type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** Converts the content of a user message, which is text or a list of parts. */
export function toUserParts(message: Fields, type: ProviderType): UserPart[] {
  const parts = contentOf(message).map((item) => toUserPart(itemFields(item), type));
  return withoutEmpty(parts, (part) => part.type === "text" && part.text === "");
}

/** Leaves out empty texts, which most providers refuse, unless there is nothing else. */
export function withoutEmpty<T>(items: readonly T[], isEmpty: (item: T) => boolean): T[] {
  const full = items.filter((item) => !isEmpty(item));
  return full.length > 0 ? full : [...items];
}

/** Returns the texts of a message that may contain only text. */
export function toTexts(message: Fields, partTypes: readonly string[] = ["text"]): string[] {
  return contentOf(message).map((item) => {
    const part = itemFields(item);
    const type = part.needText("type");
    if (!partTypes.includes(type)) part.refuse("type", `${untranslatable}: it must be text here`);
    part.only("type", type);
    return part.needText(type);
  });
}

/** Returns the content as a list; plain text becomes one part. */
function contentOf(message: Fields): readonly Item[] {
  const content = message.value("content");
  if (typeof content === "string") {
    return [{ path: `${message.path}.content`, value: { type: "text", text: content } }];
  }
  if (content === undefined || isJsonArray(content)) return message.list("content") ?? [];
  return message.refuse("content", "must be text or a list of parts");
}

function toUserPart(part: Fields, type: ProviderType): UserPart {
  const kind = part.needText("type");
  const convert = Object.hasOwn(converters, kind) ? converters[kind] : undefined;
  if (!convert) return part.refuse("type", `${untranslatable}: ${kind}`);
  part.only("type", kind);
  return convert(part, type);
}

const converters: Readonly<Record<string, (part: Fields, type: ProviderType) => UserPart>> = {
  text: (part) => ({ type: "text", text: part.needText("text") }),
  image_url: toImagePart,
  input_audio: toAudioPart,
  file: toFilePart,
};

function toImagePart(part: Fields, type: ProviderType): UserPart {
  const image = part.needFields("image_url");
  image.only("url", "detail");
  const file = toImageFile(image, type);
  const detail = image.text("detail") ?? "auto";
  if (detail === "auto") return file;
  if (type !== "openai" && type !== "azure") image.refuse("detail", untranslatable);
  return { ...file, providerOptions: { openai: { imageDetail: detail } } };
}

function toImageFile(image: Fields, type: ProviderType): LanguageModelV4FilePart {
  const url = image.needText("url");
  const path = `${image.path}.url`;
  if (/^data:/i.test(url)) return inlineFile(url, path);
  return { type: "file", mediaType: "image/*", data: { type: "url", url: toUrl(url, path, type) } };
}

/** Providers whose API accepts the URL of an image on any server. */
const readsAddresses: ReadonlySet<ProviderType> = new Set([
  "openai",
  "azure",
  "openai_compatible",
  "anthropic",
  "mistral",
]);

function toUrl(text: string, path: string, type: ProviderType): URL {
  if (!URL.canParse(text)) return refuse(path, "must be an http, https or data URL");
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) refuse(path, "must be an http, https or data URL");
  if (!readsAddresses.has(type)) {
    refuse(path, `${untranslatable}, which reads no addresses: send the image as a data URL`);
  }
  return url;
}

/** Media types of audio formats; a file of opus is an Ogg file. Source: RFC 7845, 9. */
const audioTypes: ReadonlyMap<string, string> = new Map([
  ["wav", "audio/wav"],
  ["mp3", "audio/mpeg"],
  ["flac", "audio/flac"],
  ["ogg", "audio/ogg"],
  ["opus", "audio/ogg"],
  ["aac", "audio/aac"],
  ["aiff", "audio/aiff"],
  ["m4a", "audio/mp4"],
  ["webm", "audio/webm"],
]);

function toAudioPart(part: Fields): UserPart {
  const audio = part.needFields("input_audio");
  audio.only("data", "format");
  const format = audio.needText("format");
  const mediaType = audioTypes.get(format);
  if (mediaType === undefined) {
    return audio.refuse("format", faultOfChoice([...audioTypes.keys()], format));
  }
  return { type: "file", mediaType, data: { type: "data", data: audio.needText("data") } };
}

function toFilePart(part: Fields): UserPart {
  const file = part.needFields("file");
  file.only("file_data", "filename");
  const inline = inlineFile(file.needText("file_data"), `${file.path}.file_data`);
  const filename = file.text("filename");
  return filename === undefined ? inline : { ...inline, filename };
}

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,/i;

function inlineFile(url: string, path: string): LanguageModelV4FilePart {
  // Only the head is matched, because the data may be megabytes long.
  const head = dataUrl.exec(url.slice(0, 256));
  const mediaType = head?.[1]?.toLowerCase();
  if (mediaType === undefined)
    return refuse(path, "must be a data URL with a media type, in base64");
  return { type: "file", mediaType, data: { type: "data", data: url.slice(head?.[0].length) } };
}
