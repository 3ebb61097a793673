// TestButton: sends a test notification now and says how it went.

import { Send } from "lucide-react";
import { useState } from "react";
import { AlertService, type Notification } from "../../../../../gen/waggle/v1/alert_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ErrorState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";

export function TestButton({ alertId }: { readonly alertId: string }) {
  const outcome = useTestOutcome();
  const test = useRpcMutation(AlertService.method.testAlert, {
    changes: [AlertService.method.listAlertNotifications],
    onDone: outcome.note,
  });
  return <TestOf test={test} outcome={outcome} onTest={() => test.mutate({ alertId })} />;
}

type TestAnswer = { readonly success: boolean; readonly data?: Notification | undefined };

/** Keeps the notification of a test that failed, and tells of one that arrived. */
export function useTestOutcome() {
  const [failed, setFailed] = useState<Notification>();
  return {
    failed,
    clear: () => setFailed(undefined),
    note: ({ success, data }: TestAnswer) => {
      if (success) showToast({ text: "The target accepted the test notification" });
      else setFailed(data);
    },
  };
}

export type TestOfProps = {
  /** The call that sends the test. */
  readonly test: {
    readonly isPending: boolean;
    readonly error: ApiError | null;
    readonly reset: () => void;
  };
  readonly outcome: ReturnType<typeof useTestOutcome>;
  readonly onTest: () => void;
};

/** The button of a test, and a dialog that says why one did not arrive. */
export function TestOf({ test, outcome: { failed, clear }, onTest }: TestOfProps) {
  const close = () => {
    clear();
    test.reset();
  };
  return (
    <>
      <Button icon={<Send />} busyLabel={test.isPending && "Sending…"} onClick={onTest}>
        Test
      </Button>
      <Dialog
        isOpen={failed !== undefined || test.error !== null}
        onClose={close}
        title="The test did not arrive"
        width="narrow"
        actions={<Button onClick={close}>Close</Button>}
      >
        {test.error ? (
          <ErrorState error={test.error} isInline />
        ) : (
          <p>
            The target said: <b>{failed?.attempts.at(-1)?.error ?? "nothing"}</b>. Check its
            address, and that it accepts requests from this service.
          </p>
        )}
      </Dialog>
    </>
  );
}
