// OtherFault: a fault of a form that is about none of its fields, beside which the others stand.

import type { ApiError } from "../api/errors.ts";
import { faultOf } from "../api/faults.ts";
import { ErrorState } from "./states.tsx";

export type OtherFaultProps = {
  readonly error: ApiError | null;
  /** Fields that show their faults themselves. */
  readonly fields?: readonly string[] | undefined;
};

export function OtherFault({ error, fields = [] }: OtherFaultProps) {
  const isShown = fields.some((field) => faultOf(error, field) !== undefined);
  return error && !isShown ? <ErrorState error={error} isInline /> : null;
}
