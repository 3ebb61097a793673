// Changes of the view's state in the address.

import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * Returns a function that changes some search parameters of the page; undefined removes one. The
 * router's own type is the union over all pages, which no page can meet, so the page names its own.
 */
export function useSearchChange<Search extends object>(): (change: Partial<Search>) => void {
  const navigate = useNavigate();
  return useCallback(
    (change) => {
      const search = (before: Search): Search => ({ ...before, ...change });
      void navigate({ to: ".", search: search as never });
    },
    [navigate],
  );
}
