// Asks before a page with unsaved changes is left: by a dialog within the app, by the browser's own
// question when the page is closed or loaded anew.

import { useBlocker } from "@tanstack/react-router";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/overlay.tsx";

export type LeaveGuardProps = {
  /** Called when the page is about to be left. */
  readonly isUnsaved: () => boolean;
};

export function LeaveGuard({ isUnsaved }: LeaveGuardProps) {
  const { status, proceed, reset } = useBlocker({
    // A change of the address' search parameters stays on the page.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  return (
    <Dialog
      isOpen={status === "blocked"}
      onClose={() => reset?.()}
      width="narrow"
      title="Leave without saving?"
      description="What you have typed here is not saved."
      actions={
        <>
          <Button onClick={() => reset?.()}>Stay</Button>
          <Button variant="danger" onClick={() => proceed?.()}>
            Leave
          </Button>
        </>
      }
    />
  );
}
