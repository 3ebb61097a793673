// A word on the parameters of a link that its page could not read. The router takes them out of the
// address when it starts, so they are looked at before.

import { type RegisteredRouter, useLocation } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { unreadNames } from "./known-search.ts";

let names: readonly string[] = [];

/** Notes what the address of a new router has and its page cannot read, until the next address. */
export function watchUnread({ latestLocation, matchRoutes, history }: RegisteredRouter): void {
  const { pathname, search } = latestLocation;
  const read: Record<string, unknown> = matchRoutes(pathname, search).at(-1)?.search ?? {};
  names = unreadNames(search, read);
  const stop = history.subscribe(({ action }) => {
    // The router itself replaces the first address.
    if (action.type === "REPLACE") return;
    names = [];
    stop();
  });
}

export function UnreadNote() {
  // Each new address is a reason to look again.
  useLocation();
  if (names.length === 0) return null;
  const list = new Intl.ListFormat("en").format(names.map((name) => `“${name}”`));
  return (
    <p className="page-note" role="status">
      <TriangleAlert aria-hidden /> The address cannot be read at {list}: the default is shown.
    </p>
  );
}
