// Published clients that refuse an answer as the API document shows it, by the headers they send.
// Source: docs/decisions.md, 3 and 39.4.

/** User-Agent prefix of generated clients that require integers even if the document shows text. */
const integerClientPrefix = "speakeasy-sdk/";

/** Returns whether a client reads times as text where the API document shows text. */
export function takesTextTimes(userAgent: string | undefined): boolean {
  return !userAgent?.startsWith(integerClientPrefix);
}

/** Header and value of the Python client 1.x: its evaluate() ends at a score that is text. */
export const clientPackageHeader = "hh-client-package";
const numericClient = "honeyhive";

/** Returns whether a client reads scores that are texts. */
export function takesTextScores(clientPackage: string | undefined): boolean {
  return clientPackage !== numericClient;
}
