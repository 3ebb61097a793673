// The weights of Accept and Accept-Encoding. Called by compression.ts and rest/stream.ts.
// Source: RFC 9110, 12.4.2.

/** Returns what a header names, in lower case, with its weight: 1 unless `q` says, 0 is never. */
export function parseWeights(header: string): ReadonlyMap<string, number> {
  return new Map(header.split(",").map(parseWeight));
}

function parseWeight(item: string): [name: string, weight: number] {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return [name, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
}
