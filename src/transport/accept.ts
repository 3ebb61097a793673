// Parser of the weights in Accept and Accept-Encoding. Source: RFC 9110, 12.4.2.

/**
 * Returns the names in a header, in lower case, with their weights. The weight is 1 if `q` is
 * absent; 0 means not acceptable.
 */
export function parseWeights(header: string): ReadonlyMap<string, number> {
  return new Map(header.split(",").map(parseWeight));
}

function parseWeight(item: string): [name: string, weight: number] {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return [name, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
}
