// Pages that the rows of a table open.

import { type NavigateOptions, useRouter } from "@tanstack/react-router";
import { useMemo } from "react";

type RowPages<Row> = {
  readonly onOpen: (row: Row) => void;
  readonly hrefOf: (row: Row) => string | undefined;
};

/**
 * Returns how a row is opened, and its address, which a table shows as a link. `toPage` is stable
 * between renders and undefined for a row without a page.
 */
export function useRowPages<Row>(toPage: (row: Row) => NavigateOptions | undefined): RowPages<Row> {
  const router = useRouter();
  return useMemo(
    () => ({
      onOpen: (row) => {
        const page = toPage(row);
        if (page) void router.navigate(page);
      },
      hrefOf: (row) => {
        const page = toPage(row);
        return page && router.buildLocation(page).href;
      },
    }),
    [router, toPage],
  );
}
