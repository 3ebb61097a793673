// Media types of providers' answers. Source: RFC 9110, 8.3.1.

export const streamType = "text/event-stream";

/** Returns whether a content type begins with a media type, in any case. */
export function isOfType(
  contentType: string | string[] | undefined,
  mediaType: string,
): contentType is string {
  return typeof contentType === "string" && contentType.toLowerCase().startsWith(mediaType);
}
