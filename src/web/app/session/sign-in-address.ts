// The address that signs in through the identity provider and comes back.

/** Maximum characters of a path to come back to (`access/sign-in/return-path.ts`). */
const lengthMax = 2_000;

/**
 * Returns the address that signs in and comes back to a path; without its search parameters, such
 * as many filters, if the service would refuse so long a path.
 */
export function signInAddress(returnTo: string): string {
  const [path = ""] = returnTo.split("?");
  const taken = returnTo.length > lengthMax ? path : returnTo;
  return `/auth/sign-in?return_to=${encodeURIComponent(taken)}`;
}
