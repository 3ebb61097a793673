// Members of a scope with their roles: add by e-mail, change, remove; what each role may do.

import { UserPlus, Users } from "lucide-react";
import { useState } from "react";
import { type Member, MemberService, type Role } from "../../../../../gen/waggle/v1/member_pb.js";
import { useRpc, useRpcMutation, useRpcPages } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { SelectField, TextField } from "../../design/fields.tsx";
import { Select } from "../../design/input.tsx";
import { formatActor } from "../../design/format.ts";
import { MoreButton } from "../../design/more-button.tsx";
import { Dialog, Drawer } from "../../design/overlay.tsx";
import { EmptyState, ErrorState, ReadState } from "../../design/states.tsx";
import { Time } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { memberScope, type ScopeRef } from "../../api/scope.ts";
import { faultOf } from "../../api/faults.ts";
import { type SettingsColumn, SettingsTable } from "./settings-table.tsx";

const { method } = MemberService;

export function Members({ scope }: { readonly scope: ScopeRef }) {
  const [open, setOpen] = useState<"add" | "roles">();
  const [leaving, setLeaving] = useState<Member>();
  const may = useMay(scope);
  const members = useRpcPages(method.listMembers, { scope: memberScope(scope), limit: 1_000 });
  const { data: roleList } = useRpc(method.listRoles, {}, { staleMs: 60_000 });
  const roles = (roleList?.data ?? []).filter(({ levels }) => levels.includes(scope.level));
  const rows = members.data?.pages.flatMap(({ data }) => data) ?? [];
  const state = <ReadState read={members} what="Loading members" />;
  if (!members.data) return state;
  return (
    <div className="settings-sections">
      <div className="settings-acts">
        {may(method.addMember) ? (
          <Button variant="primary" icon={<UserPlus />} onClick={() => setOpen("add")}>
            Add member
          </Button>
        ) : null}
        <Button onClick={() => setOpen("roles")}>What the roles permit</Button>
      </div>
      <ReadOnlyNote method={method.updateMember} scope={scope} />
      {rows.length === 0 ? (
        <EmptyState icon={<Users />} title="No members here">
          People with a role above this scope have access too.
          {may(method.addMember)
            ? " Add a person by e-mail to give a role in this scope alone."
            : null}
        </EmptyState>
      ) : (
        <MemberTable scope={scope} rows={rows} roles={roles} onRemove={setLeaving} />
      )}
      {state}
      <MoreButton pages={members} label="Show more members" />
      {open === "add" ? (
        <AddMember scope={scope} roles={roles} onClose={() => setOpen(undefined)} />
      ) : null}
      <RolesDrawer
        isOpen={open === "roles"}
        roles={roleList?.data ?? []}
        onClose={() => setOpen(undefined)}
      />
      {leaving ? (
        <ConfirmCall
          onClose={() => setLeaving(undefined)}
          title={`Remove ${leaving.email}`}
          description="The role in this scope ends at once, and so do the person's sign-ins."
          action="Remove member"
          busyLabel="Removing…"
          method={method.removeMember}
          input={{ scope: memberScope(scope), userId: leaving.userId }}
          changes={[method.listMembers]}
        />
      ) : null}
    </div>
  );
}

type MemberTableProps = {
  readonly scope: ScopeRef;
  readonly rows: readonly Member[];
  readonly roles: readonly Role[];
  readonly onRemove: (member: Member) => void;
};

function MemberTable({ scope, rows, roles, onRemove }: MemberTableProps) {
  const may = useMay(scope);
  const update = useRpcMutation(method.updateMember, { changes: [method.listMembers] });
  const columns: readonly SettingsColumn<Member>[] = [
    {
      header: "Person",
      cell: ({ userId, email, name }) => (
        <>
          <span className="truncate">{email}</span>
          {name === undefined ? null : <small className="truncate">{name}</small>}
          {update.variables?.userId === userId && update.error ? (
            // At the top of a long list it would be out of sight.
            <ErrorState error={update.error} isInline />
          ) : null}
        </>
      ),
    },
    {
      header: "Role",
      cell: ({ userId, email, role: current }) => (
        <Select
          isSmall
          aria-label={`Role of ${email}`}
          value={current}
          options={optionsOf(roles, current)}
          disabled={!may(method.updateMember)}
          aria-disabled={update.isPending}
          onChange={(role) => {
            if (!update.isPending) update.mutate({ scope: memberScope(scope), userId, role });
          }}
        />
      ),
    },
    { header: "Added", cell: ({ createdAt }) => <Time value={createdAt} /> },
    {
      header: "By",
      titleOf: ({ createdBy }) => createdBy,
      cell: ({ createdBy }) => <span className="truncate">{formatActor(createdBy)}</span>,
    },
    {
      header: "Acts",
      isHeaderHidden: true,
      isMajor: true,
      cell: (member) =>
        may(method.removeMember) ? (
          <Button
            size="small"
            variant="ghost"
            aria-label={`Remove ${member.email}`}
            onClick={() => onRemove(member)}
          >
            Remove
          </Button>
        ) : null,
    },
  ];
  return (
    <SettingsTable label="Members" columns={columns} rows={rows} idOf={({ userId }) => userId} />
  );
}

function optionsOf(roles: readonly Role[], current: string) {
  const options = roles.map(({ name, title }) => ({ value: name, label: title }));
  const isKnown = options.some(({ value }) => value === current);
  return isKnown ? options : [...options, { value: current, label: current }];
}

type AddMemberProps = {
  readonly scope: ScopeRef;
  readonly roles: readonly Role[];
  readonly onClose: () => void;
};

function AddMember({ scope, roles, onClose }: AddMemberProps) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<string>();
  const chosen = role ?? roles.at(-1)?.name ?? "";
  const add = useRpcMutation(method.addMember, { changes: [method.listMembers], onDone: onClose });
  return (
    <Dialog
      onClose={onClose}
      title="Add a member"
      description="The person gets the role at the next sign-in with this e-mail."
      width="narrow"
      act={{
        label: "Add member",
        disabled: email.trim() === "" || chosen === "",
        busyLabel: "Adding…",
        run: () => add.mutate({ scope: memberScope(scope), email: email.trim(), role: chosen }),
        change: add,
        fields: ["email", "role"],
      }}
    >
      <TextField
        label="E-mail"
        type="email"
        error={faultOf(add.error, "email")}
        value={email}
        onChange={setEmail}
      />
      <SelectField
        label="Role"
        error={faultOf(add.error, "role")}
        value={chosen}
        options={roles.map(({ name, title }) => ({ value: name, label: title }))}
        onChange={setRole}
      />
    </Dialog>
  );
}

type RolesDrawerProps = {
  readonly isOpen: boolean;
  readonly roles: readonly Role[];
  readonly onClose: () => void;
};

function RolesDrawer({ isOpen, roles, onClose }: RolesDrawerProps) {
  return (
    <Drawer isOpen={isOpen} onClose={onClose} title="What the roles permit">
      <div className="settings-sections">
        {roles.map(({ name, title, levels, permissions }) => (
          <section key={name} className="settings-role">
            <h3>{title}</h3>
            <p>
              <code>{name}</code>, for {levels.join(", ")}
            </p>
            <ul>
              {permissions.map((permission) => (
                <li key={permission}>
                  <code>{permission}</code>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Drawer>
  );
}
