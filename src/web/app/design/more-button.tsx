// MoreButton: reads the next page of a list that does not read on by itself.

import { Button, type ButtonProps } from "./button.tsx";

export type MoreButtonProps = Pick<ButtonProps, "size"> & {
  /** A call that reads pages, as `useRpcPages` returns it. */
  readonly pages: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  readonly label: string;
};

/** Shows nothing once the last page is read. */
export function MoreButton({ pages, label, size }: MoreButtonProps) {
  if (!pages.hasNextPage) return null;
  return (
    <Button
      size={size}
      busyLabel={pages.isFetchingNextPage && "Loading…"}
      onClick={() => void pages.fetchNextPage()}
    >
      {label}
    </Button>
  );
}
