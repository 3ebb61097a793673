// The page of people who are not signed in: how to sign in here, and back to the address they
// wanted.

import { LogIn } from "lucide-react";
import { useEffect } from "react";
import { Button } from "../design/button.tsx";
import { ErrorState, Loading } from "../design/states.tsx";
import { Copy } from "../design/values.tsx";
import { Logo } from "../shell/logo.tsx";
import { signInAddress } from "./sign-in-address.ts";
import { checkSignIn, type SignInState, signInWay } from "./sign-in-state.ts";
import "./sign-in.css";

const linkCommand = "npm run -s waggle -- sign-in-link";
/** How often a page that waits for a sign-in in another tab asks whether it happened. */
const askMs = 2_000;

/** Asks again and again whether a person signed in, as long as the page waits for that. */
export function useSignInWatch(): void {
  useEffect(() => {
    const ask = () => void checkSignIn();
    const timer = setInterval(ask, askMs);
    globalThis.addEventListener("focus", ask);
    return () => {
      clearInterval(timer);
      globalThis.removeEventListener("focus", ask);
    };
  }, []);
}

/** Stands in for the app until a person is signed in. */
export function SignInPage({ state }: { readonly state: SignInState }) {
  return (
    <main className="sign-in-page">
      <div className="sign-in-card">
        <Logo />
        <SignInContent state={state} />
      </div>
    </main>
  );
}

function SignInContent({ state }: { readonly state: SignInState }) {
  if (state.kind === "unreachable") {
    return <ErrorState error={state.error} onRetry={() => void checkSignIn()} isInline />;
  }
  if (state.kind !== "signed-out") return <Loading what="Asking who is signed in" />;
  return (
    <>
      <h1>Sign in to Waggle</h1>
      {signInWay === "provider" ? <ProviderWay /> : <LinkWay />}
    </>
  );
}

function ProviderWay() {
  useSignInWatch();
  const { pathname, search } = globalThis.location;
  return (
    <>
      <p>Your organization’s identity provider signs you in and brings you back here.</p>
      <Button variant="primary" icon={<LogIn />} asChild>
        <a href={signInAddress(pathname + search)}>Sign in</a>
      </Button>
    </>
  );
}

function LinkWay() {
  useSignInWatch();
  return (
    <>
      <p>No identity provider is set up, so a one-time link signs you in as the administrator.</p>
      <LinkSteps />
    </>
  );
}

/** How to get a one-time link. */
export function LinkSteps() {
  return (
    <ol className="sign-in-steps">
      <li>
        On the machine that runs Waggle, make a link:
        <span className="sign-in-command">
          <code>{linkCommand}</code>
          <Copy text={linkCommand} what="command" />
        </span>
      </li>
      <li>Open the link in this browser. It works once, for 15 minutes.</li>
      <li>This page goes on by itself.</li>
    </ol>
  );
}
