// The dialog over a page whose sign-in has ended. The page under it stays as it is; the calls that
// wait go on after the next sign-in, which happens in another tab or window.

import { LogIn } from "lucide-react";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/overlay.tsx";
import { LinkSteps, useSignInWatch } from "./sign-in-page.tsx";
import { signInAddress } from "./sign-in-address.ts";
import { signInWay } from "./sign-in-state.ts";
import "./sign-in.css";

/** Address that the provider sends the other window back to; it closes itself. */
const signedInPath = "/app/signed-in";

const description =
  "Nothing is lost: your text is still here, and what was being sent goes on as soon as you are " +
  "signed in again.";

export function SignInAgain() {
  return (
    <Dialog
      isSticky
      onClose={() => undefined}
      title="Your sign-in has ended"
      description={description}
      actions={signInWay === "provider" ? <ProviderButton /> : undefined}
    >
      <Waiting />
    </Dialog>
  );
}

function Waiting() {
  useSignInWatch();
  return signInWay === "provider" ? (
    <p className="sign-in-waiting">This dialog closes by itself.</p>
  ) : (
    <LinkSteps />
  );
}

function ProviderButton() {
  return (
    <Button
      variant="primary"
      icon={<LogIn />}
      onClick={() => {
        globalThis.open(signInAddress(signedInPath), "waggle-sign-in", "width=520,height=680");
      }}
    >
      Sign in again
    </Button>
  );
}
