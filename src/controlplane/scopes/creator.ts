// The person whom a create call names as administrator of what it makes. The services of data
// planes, workspaces, projects and organizations ask; access/members decides and appoints.
// Source: docs/spec.md, "Control-plane resources".

import type { Principal } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";

export type Appointment = {
  readonly parent: Scope;
  readonly created: Scope;
  readonly email: string;
  /** Name of the request field, for refusals: `workspace_creator`. */
  readonly field: string;
  readonly principal: Principal;
};

/**
 * Makes the member of `parent` with this e-mail administrator of `created`, in the ambient
 * transaction. Fails with INVALID_ARGUMENT naming the field when there is no such member, or when
 * the caller is no key.
 */
export type AppointCreator = (appointment: Appointment) => Promise<void>;
