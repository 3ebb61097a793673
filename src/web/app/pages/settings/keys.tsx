// API keys of a scope, a list for each kind: create with the value shown once, and revoke, which is
// followed until every server has confirmed it.

import { KeyRound, Plus } from "lucide-react";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { ApiKey } from "../../../../../gen/waggle/v1/api_key_pb.js";
import { useRpcPages } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { Status, type Tone } from "../../design/badge.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { formatActor } from "../../design/format.ts";
import { Checkbox } from "../../design/input.tsx";
import { MoreButton } from "../../design/more-button.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { Segments } from "../../design/tabs.tsx";
import { Time } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useSearchChange } from "../../shell/search.ts";
import { CreateKey } from "./create-key.tsx";
import { type KeyKind, keyInput, keyKindsAt } from "./key-kinds.ts";
import type { ProjectSettingsSearch } from "./route.tsx";
import { type ScopeRef, toMs } from "../../api/scope.ts";
import { type SettingsColumn, SettingsTable } from "./settings-table.tsx";

export function Keys({ scope }: { readonly scope: ScopeRef }) {
  const may = useMay(scope);
  const all = keyKindsAt(scope.level);
  const open = all.filter(({ list }) => may(list));
  const kinds = open.length === 0 ? all : open;
  const search = useSearch({ strict: false });
  const change = useSearchChange<ProjectSettingsSearch>();
  const kind = kinds.find((one) => one.name === search.kind) ?? kinds[0];
  const [isCreating, setCreating] = useState(false);
  if (!kind) return null;
  return (
    <div className="settings-sections">
      <div className="settings-acts">
        <Segments
          label="Kind of key"
          options={kinds.map((one) => ({ value: one.name, label: one.title }))}
          value={kind.name}
          onChange={(name) => change({ kind: name })}
        />
        {may(kind.create) ? (
          <Button variant="primary" icon={<Plus />} onClick={() => setCreating(true)}>
            Create key
          </Button>
        ) : null}
      </div>
      <p className="settings-note">{kind.purpose}</p>
      <ReadOnlyNote method={kind.create} scope={scope} />
      <KeyList key={kind.name} kind={kind} scope={scope} />
      {isCreating ? (
        <CreateKey kind={kind} scope={scope} onClose={() => setCreating(false)} />
      ) : null}
    </div>
  );
}

type KeyListProps = { readonly kind: KeyKind; readonly scope: ScopeRef };

/** Time between two looks at a revocation that some server has not confirmed yet. */
const followMs = 2_000;
/** Time between two looks at keys that another person, or another tab, may revoke. */
const refreshMs = 10_000;

function KeyList({ kind, scope }: KeyListProps) {
  const may = useMay(scope);
  const [ending, setEnding] = useState<ApiKey>();
  const [isFollowing, setFollowing] = useState(false);
  const keys = useRpcPages(kind.list, keyInput(kind, scope, { limit: 100 }), {
    refreshMs: isFollowing ? followMs : refreshMs,
  });
  const rows = keys.data?.pages.flatMap(({ data }) => data) ?? [];
  const isUnconfirmed = rows.some(isBeingRevoked);
  if (isFollowing !== isUnconfirmed) setFollowing(isUnconfirmed);
  const state = <ReadState read={keys} what="Loading keys" />;
  if (!keys.data || (keys.error && rows.length === 0)) return state;
  if (rows.length === 0) {
    return (
      <EmptyState icon={<KeyRound />} title={`No ${kind.title.toLowerCase()} keys`}>
        {may(kind.create) ? "Create one; its value is shown once." : null}
      </EmptyState>
    );
  }
  return (
    <>
      <SettingsTable
        label={`${kind.title} keys`}
        columns={[...keyColumns, ...(may(kind.revoke) ? [actsColumn(setEnding)] : [])]}
        rows={rows}
        idOf={({ keyId }) => keyId}
      />
      {state}
      <MoreButton pages={keys} label="Show more keys" />
      {ending ? (
        <RevokeKey kind={kind} scope={scope} apiKey={ending} onClose={() => setEnding(undefined)} />
      ) : null}
    </>
  );
}

function isBeingRevoked({ revokedAt, revocationConfirmedAt }: ApiKey): boolean {
  return revokedAt !== undefined && revocationConfirmedAt === undefined;
}

const keyColumns: readonly SettingsColumn<ApiKey>[] = [
  {
    header: "Name",
    cell: ({ name, description, permissions }) => (
      <>
        <span className="truncate" title={description ?? name}>
          {name}
        </span>
        {permissions.length === 0 ? null : (
          <small className="truncate" title={permissions.join(", ")}>
            {permissions.join(", ")}
          </small>
        )}
      </>
    ),
  },
  { header: "Status", isMajor: true, cell: (key) => <KeyStatus apiKey={key} /> },
  { header: "Ends", isMajor: true, className: "numeric", cell: dayOf },
  { header: "Value", cell: ({ maskedPrefix }) => <code>{maskedPrefix}</code> },
  {
    header: "Created",
    titleOf: ({ createdBy }) => `by ${createdBy}`,
    cell: ({ createdAt, createdBy }) => (
      <>
        <Time value={createdAt} />
        <small className="truncate">{formatActor(createdBy)}</small>
      </>
    ),
  },
  { header: "Last used", cell: ({ lastUsedAt }) => <Time value={lastUsedAt} /> },
];

function actsColumn(onRevoke: (key: ApiKey) => void): SettingsColumn<ApiKey> {
  return {
    header: "Acts",
    isHeaderHidden: true,
    isMajor: true,
    cell: (key) =>
      key.status === "revoked" ? null : (
        <Button
          size="small"
          variant="ghost"
          aria-label={`Revoke ${key.name}`}
          onClick={() => onRevoke(key)}
        >
          Revoke
        </Button>
      ),
  };
}

function dayOf({ expiresAt }: ApiKey): string {
  const ms = toMs(expiresAt);
  return ms === undefined ? "never" : new Date(ms).toISOString().slice(0, 10);
}

const tones: Readonly<Record<string, Tone>> = { active: "good", expired: "warn", revoked: "bad" };

function KeyStatus({ apiKey }: { readonly apiKey: ApiKey }) {
  if (isBeingRevoked(apiKey)) {
    return (
      <span role="status" title="Some server has not confirmed it yet, which takes up to 60 s.">
        <Status tone="warn">being revoked</Status>
      </span>
    );
  }
  return <Status tone={tones[apiKey.status] ?? "neutral"}>{apiKey.status}</Status>;
}

type RevokeKeyProps = KeyListProps & {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
};

function RevokeKey({ kind, scope, apiKey, onClose }: RevokeKeyProps) {
  const [withCreated, setWithCreated] = useState(false);
  const input = { keyId: apiKey.keyId, revokeCreatedKeys: withCreated };
  return (
    <ConfirmCall
      onClose={onClose}
      title={`Revoke ${apiKey.name}`}
      description={
        <>
          <p>Programs that use it lose access at once, on every server within 60 seconds.</p>
          <Checkbox
            label="Also revoke the keys that it created"
            checked={withCreated}
            onChange={setWithCreated}
          />
        </>
      }
      action="Revoke key"
      busyLabel="Revoking…"
      method={kind.revoke}
      input={keyInput(kind, scope, input)}
      changes={[kind.list]}
    />
  );
}
