// Who is signed in. Every call that finds nothing asks here whether the sign-in has ended; if so,
// all calls wait here while the dialog `sign-in-again.tsx` is open, and go on afterwards.

import { Code, ConnectError } from "@connectrpc/connect";
import { useSyncExternalStore } from "react";
import { type Me, MeService } from "../../../../gen/waggle/v1/me_pb.js";
import { type ApiError, toApiError } from "../api/errors.ts";
import { callRpc, guardCalls } from "../api/transport.ts";

export type SignInState =
  | { readonly kind: "unknown" }
  | { readonly kind: "unreachable"; readonly error: ApiError }
  | { readonly kind: "signed-out" }
  | { readonly kind: "signed-in"; readonly me: Me }
  /** The sign-in ended while the person worked: the page stays as it is, under a dialog. */
  | { readonly kind: "ended"; readonly me: Me };

/** How people sign in here: through an identity provider, or by links that the operator makes. */
export const signInWay =
  document.querySelector<HTMLMetaElement>('meta[name="waggle-sign-in"]')?.content === "provider"
    ? "provider"
    : "link";

let state: SignInState = { kind: "unknown" };
const listeners = new Set<() => void>();
/** Resumes the calls that wait for the next sign-in. */
let waiting: PromiseWithResolvers<void> | undefined;
let checking: Promise<SignInState> | undefined;
/** Whether the app was to be loaded anew for another person. */
let hasLeft = false;

/** Tells the tabs of this browser that the person signed in or out. */
const channel = new BroadcastChannel("waggle-sign-in");
channel.onmessage = () => void checkSignIn();

function setState(next: SignInState): void {
  state = next;
  for (const listener of listeners) listener();
}

/** Returns the current state and follows it. */
export function useSignIn(): SignInState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Asks the service who is signed in; concurrent questions share one answer. */
export function checkSignIn(): Promise<SignInState> {
  checking ??= askWhoIsSignedIn().finally(() => {
    checking = undefined;
  });
  return checking;
}

async function askWhoIsSignedIn(): Promise<SignInState> {
  try {
    const { data } = await callRpc(MeService.method.getMe, {});
    if (!data) throw new ConnectError("the service did not say who is signed in", Code.Internal);
    const before = "me" in state ? state.me : undefined;
    if (before && before.id !== data.id) {
      leaveToAnother(before);
      return state;
    }
    setState({ kind: "signed-in", me: data });
    waiting?.resolve();
    waiting = undefined;
  } catch (thrown) {
    const error = toApiError(thrown);
    if (error.errorCode === "NOT_FOUND") {
      setState("me" in state ? { kind: "ended", me: state.me } : { kind: "signed-out" });
    } else if (state.kind === "unknown" || state.kind === "unreachable") {
      setState({ kind: "unreachable", error });
    }
  }
  return state;
}

/**
 * Loads the app anew for another person: data of the one before must not stay on the screen, nor in
 * the memory, and calls that wait must not be sent in another name. The browser may ask whether to
 * leave unsaved text, once; the page of a person who stays waits for their own sign-in.
 */
function leaveToAnother(me: Me): void {
  setState({ kind: "ended", me });
  if (hasLeft) return;
  hasLeft = true;
  globalThis.location.reload();
}

guardCalls(async (signal) => {
  const { kind } = await checkSignIn();
  if (kind !== "ended") return false;
  waiting ??= Promise.withResolvers();
  await Promise.race([waiting.promise, aborted(signal)]);
  return !signal.aborted;
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Ends the sign-in in this browser, and leaves the app. */
export async function signOut(): Promise<void> {
  // oxlint-disable-next-line no-restricted-globals -- a page of sign-in, not an rpc
  await fetch("/auth/sign-out", { method: "POST" });
  channel.postMessage("signed out");
  globalThis.location.assign("/app");
}

/** Tells the other tabs that the person is signed in now. */
export function announceSignIn(): void {
  channel.postMessage("signed in");
}
