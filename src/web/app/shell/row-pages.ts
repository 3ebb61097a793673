// Pages that the rows of a table open.

import { type NavigateOptions, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { useCurrentProjectId } from "../api/project.ts";

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

type Item = { readonly id: string };

/**
 * Returns the same for the list of a page of the project, such as `queues`, where an item's page is
 * below the list's. The router's own types know only addresses that are written out.
 */
export function useItemPages(list: string): RowPages<Item> {
  const projectId = useCurrentProjectId();
  return useRowPages(
    useCallback(
      ({ id }: Item) => {
        const to = `/app/p/$projectId/${list}/$id` as "/app";
        return { to, params: { projectId, id } as never };
      },
      [projectId, list],
    ),
  );
}
