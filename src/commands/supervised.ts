// The service's side of its supervisor: reports readiness, and notices the supervisor's end. Has no
// effect in a process without a supervisor.

export type ReadyMessage = { readonly kind: "ready"; readonly logLevel: string };

export function isReadyMessage(message: unknown): message is ReadyMessage {
  return (message as Partial<ReadyMessage> | null)?.kind === "ready";
}

/** Reports readiness to the supervisor, which restarts the service after a crash from now on. */
export function reportReady(logLevel: string): void {
  const message: ReadyMessage = { kind: "ready", logLevel };
  // An error means that the supervisor has ended, for which onSupervisorEnd has a listener.
  process.send?.(message, undefined, undefined, () => undefined);
}

/** Calls `listener` when the supervisor ends before this process, even by a crash. */
export function onSupervisorEnd(listener: () => void): void {
  const hasSupervisor = process.send !== undefined;
  // The supervisor may have ended while this process was loading.
  if (hasSupervisor && !process.connected) listener();
  process.once("disconnect", listener);
}
