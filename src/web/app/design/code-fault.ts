// CodeFault: what the code editor marks in its text.

/** A fault at a place of the text, marked in its line and told below. */
export type CodeFault = {
  /** From 1. */
  readonly line: number;
  /** From 1; absent for the whole line. */
  readonly column?: number;
  readonly message: string;
};
