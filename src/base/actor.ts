// The doer of a change, for the audit log and for lists.

export type Actor = {
  readonly type: "key" | "user" | "operator" | "system";
  /** Id of the key or user; for an operator at the command line, the name of the account. */
  readonly id: string;
  /** The key's name or the user's e-mail. */
  readonly name: string;
};

/** Returns an actor's name for lists: an e-mail, or a key's name and id. */
export function describeActor({ type, id, name }: Actor): string {
  return type === "key" ? `key ${name} (${id})` : name;
}
