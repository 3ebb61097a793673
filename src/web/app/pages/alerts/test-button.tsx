// TestButton: sends a test notification now and says how it went.

import { Send } from "lucide-react";
import { useState } from "react";
import { AlertService, type Notification } from "../../../../../gen/waggle/v1/alert_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ErrorState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";

export function TestButton({ alertId }: { readonly alertId: string }) {
  const [failed, setFailed] = useState<Notification>();
  const test = useRpcMutation(AlertService.method.testAlert, {
    changes: [AlertService.method.listAlertNotifications],
    onDone: ({ success, data }) => {
      if (success) showToast({ text: "The target accepted the test notification" });
      else setFailed(data);
    },
  });
  const close = () => {
    setFailed(undefined);
    test.reset();
  };
  return (
    <>
      <Button
        icon={<Send />}
        busyLabel={test.isPending && "Sending…"}
        onClick={() => test.mutate({ alertId })}
      >
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
