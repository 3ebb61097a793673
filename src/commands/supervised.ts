// The service's side of its supervisor: says that it is ready, and notices that the supervisor has
// ended. Does nothing in a process that has no supervisor.

export type ReadyMessage = { readonly kind: "ready"; readonly logLevel: string };

export function isReadyMessage(message: unknown): message is ReadyMessage {
  return (message as Partial<ReadyMessage> | null)?.kind === "ready";
}

/** Tells the supervisor that the service is ready: a crash is worth a restart from now on. */
export function reportReady(logLevel: string): void {
  const message: ReadyMessage = { kind: "ready", logLevel };
  // An error means that the supervisor has ended, for which onSupervisorEnd has a listener.
  process.send?.(message, undefined, undefined, () => undefined);
}

/** Calls `listener` when the supervisor ends before this process, however it ends. */
export function onSupervisorEnd(listener: () => void): void {
  const hasSupervisor = process.send !== undefined;
  // It may have ended while this process was loading.
  if (hasSupervisor && !process.connected) listener();
  process.once("disconnect", listener);
}
