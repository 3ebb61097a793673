// SecretDialog: a signing secret, which is shown once.

import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { Copy } from "../../design/values.tsx";

export type SecretDialogProps = {
  readonly secret: string | undefined;
  readonly onClose: () => void;
};

export function SecretDialog({ secret, onClose }: SecretDialogProps) {
  return (
    <Dialog
      isOpen={secret !== undefined}
      onClose={onClose}
      isSticky
      title="Keep the signing secret"
      description="It is not shown again. Receivers check signatures of the webhook with it, as the
        Standard Webhooks specification says."
      actions={
        <Button variant="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <p className="alert-secret">
        <code>{secret}</code>
        <Copy text={secret ?? ""} what="signing secret" />
      </p>
    </Dialog>
  );
}
