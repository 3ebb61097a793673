// Toast: a short word that something is done or has failed, when there is no better place for it.
// `showToast` works anywhere; `Toasts` stands once in the shell.

import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";
import { IconButton } from "./button.tsx";
import "./toast.css";

export type Toast = {
  readonly text: string;
  /** `bad` stays until it is closed. */
  readonly tone?: "good" | "bad";
  /** One act, such as to undo. */
  readonly action?: { readonly label: string; readonly onPress: () => void };
};

type Shown = Toast & { readonly id: number };

const shownMs = 5_000;
const toastsMax = 4;
let shown: readonly Shown[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function setShown(next: readonly Shown[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

export function showToast(toast: Toast): void {
  lastId += 1;
  setShown([...shown, { ...toast, id: lastId }].slice(-toastsMax));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  return (
    <div className="toasts" role="region" aria-label="Messages">
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastCard({ toast }: { readonly toast: Shown }) {
  const { id, text, tone = "good", action } = toast;
  const close = () => setShown(shown.filter((one) => one.id !== id));
  useEffect(() => {
    if (tone === "bad") return undefined;
    const timer = setTimeout(() => setShown(shown.filter((one) => one.id !== id)), shownMs);
    return () => clearTimeout(timer);
  }, [id, tone]);
  return (
    <div className="toast" data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
      {tone === "bad" ? <CircleAlert aria-hidden /> : <CircleCheck aria-hidden />}
      <span>{text}</span>
      {action === undefined ? null : (
        <button
          type="button"
          className="toast-action"
          onClick={() => {
            action.onPress();
            close();
          }}
        >
          {action.label}
        </button>
      )}
      <IconButton label="Close" icon={<X />} size="small" onClick={close} />
    </div>
  );
}
