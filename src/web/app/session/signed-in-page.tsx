// The page at which the window of “sign in again” ends: tells the other tabs, and closes.

import { useEffect } from "react";
import { announceSignIn } from "./sign-in-state.ts";

export function SignedInPage() {
  useEffect(() => {
    announceSignIn();
    globalThis.close();
  }, []);
  return (
    <main className="sign-in-page">
      <p>You are signed in. You can close this window.</p>
    </main>
  );
}
