// The tree of scopes that the person may see, from each scope where the person has a role.

import {
  Boxes,
  Building2,
  ChevronDown,
  ChevronRight,
  FolderOpen,
  Plus,
  Server,
} from "lucide-react";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { OrganizationService } from "../../../../../gen/waggle/v1/organization_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { faultOf } from "../../api/faults.ts";
import { useSignIn } from "../../session/sign-in-state.ts";
import {
  isLevel,
  type Level,
  levelBelow,
  levelNames,
  scopeMethods,
  type ScopeRef,
  useChildren,
  useScope,
} from "../../api/scope.ts";

const icons: Readonly<Record<Level, ReactNode>> = {
  org: <Building2 aria-hidden />,
  dataplane: <Server aria-hidden />,
  workspace: <Boxes aria-hidden />,
  project: <FolderOpen aria-hidden />,
};

export type ScopeTreeProps = {
  readonly chosen: ScopeRef | undefined;
  readonly onChoose: (scope: ScopeRef) => void;
};

export function ScopeTree({ chosen, onChoose }: ScopeTreeProps) {
  const signIn = useSignIn();
  const grants = "me" in signIn ? signIn.me.grants : [];
  const [isCreating, setCreating] = useState(false);
  const orgs = useRpc(OrganizationService.method.listOrganizations, { limit: 1_000 });
  const [found, onFound] = useFoundIds();
  const lower = grants
    .filter(({ scopeType }) => isLevel(scopeType) && scopeType !== "org")
    .filter(({ scopeId }, at) => at === grants.findIndex((one) => one.scopeId === scopeId))
    .map(({ scopeType, scopeId }) => ({ level: scopeType as Level, id: scopeId }))
    .filter(({ id }) => !found.has(id));
  const shared = { chosen, onChoose, onFound };
  const tree = useRef<HTMLElement>(null);
  useEffect(() => (tree.current ? keepChosenInView(tree.current) : undefined), [chosen?.id]);
  const mayCreate = grants.some(({ scopeType }) => scopeType === "system");
  return (
    <nav ref={tree} className="scope-tree" aria-label="Scopes">
      <ReadState read={orgs} what="Loading the organizations" isInline />
      <ul>
        {(orgs.data?.data ?? []).map(({ id, name }) => (
          <Node key={id} scope={{ level: "org", id }} name={name} {...shared} />
        ))}
        {lower.map((scope) => (
          <TopNode key={scope.id} scope={scope} {...shared} />
        ))}
      </ul>
      {mayCreate ? (
        <Button size="small" icon={<Plus />} onClick={() => setCreating(true)}>
          New organization
        </Button>
      ) : null}
      {isCreating ? (
        <CreateOrganization onClose={() => setCreating(false)} onCreated={onChoose} />
      ) : null}
    </nav>
  );
}

/**
 * Scrolls the tree to the chosen scope, again whenever scopes load above it, until the person
 * scrolls or opens something. Returns how to end it.
 */
function keepChosenInView(tree: HTMLElement): () => void {
  const show = (): void => {
    const chosen = tree.querySelector('[aria-current="true"]')?.getBoundingClientRect();
    const { top, bottom } = tree.getBoundingClientRect();
    if (!chosen) return;
    if (chosen.top < top) tree.scrollTop -= top - chosen.top;
    if (chosen.bottom > bottom) tree.scrollTop += chosen.bottom - bottom;
  };
  const observer = new ResizeObserver(show);
  for (const list of tree.children) observer.observe(list);
  const ends = ["wheel", "touchstart", "pointerdown", "keydown"];
  const end = (): void => observer.disconnect();
  for (const name of ends) tree.addEventListener(name, end, { passive: true });
  return () => {
    end();
    for (const name of ends) tree.removeEventListener(name, end);
  };
}

type OnFound = (ids: readonly string[]) => void;

/** Keeps the ids of scopes that stand below another one, where a role in them adds no place. */
function useFoundIds(): readonly [ReadonlySet<string>, OnFound] {
  const [found, setFound] = useState<ReadonlySet<string>>(new Set());
  const onFound = useCallback<OnFound>((ids) => {
    setFound((before) => {
      const after = new Set([...before, ...ids]);
      return after.size === before.size ? before : after;
    });
  }, []);
  return [found, onFound];
}

type NodeProps = ScopeTreeProps & {
  readonly scope: ScopeRef;
  readonly name: string;
  /** Called with the ids of the scopes right below. */
  readonly onFound: OnFound;
};

function Node({ scope, name, chosen, onChoose, onFound }: NodeProps) {
  const [isOpen, setOpen] = useState(true);
  const below = levelBelow[scope.level];
  const { children, hasMore, error, refetch } = useChildren(scope, isOpen && below !== undefined);
  useEffect(() => onFound(children.map(({ id }) => id)), [children, onFound]);
  return (
    <li>
      <div className="scope-node" data-chosen={chosen?.id === scope.id}>
        {below === undefined ? (
          <span className="scope-node-space" />
        ) : (
          <IconButton
            size="small"
            label={`${isOpen ? "Close" : "Open"} ${name}`}
            icon={isOpen ? <ChevronDown /> : <ChevronRight />}
            onClick={() => setOpen(!isOpen)}
          />
        )}
        <button
          type="button"
          aria-current={chosen?.id === scope.id}
          title={`${name}: ${levelNames[scope.level]}`}
          onClick={() => onChoose(scope)}
        >
          {icons[scope.level]}
          <span className="truncate">{name}</span>
        </button>
      </div>
      {isOpen && isFailure(error) ? <ErrorState error={error} isInline onRetry={refetch} /> : null}
      {isOpen && below !== undefined && children.length > 0 ? (
        <ul>
          {children.map((child) => (
            <Node
              key={child.id}
              scope={{ level: below, id: child.id }}
              name={child.name}
              {...{ chosen, onChoose, onFound }}
            />
          ))}
          {hasMore ? <li className="scope-node-more">The first 1,000 are shown.</li> : null}
        </ul>
      ) : null}
    </li>
  );
}

/** Returns whether an answer is missing; a scope that is archived or not open has none by right. */
function isFailure(error: ApiError | null): error is ApiError {
  return error !== null && error.errorCode !== "NOT_FOUND";
}

/** A scope where the person has a role, below organizations that are not open to the person. */
function TopNode(props: Omit<NodeProps, "name">) {
  const { scope, error, refetch } = useScope(props.scope);
  if (!scope && isFailure(error)) {
    return (
      <li>
        <ErrorState error={error} isInline onRetry={() => void refetch()} />
      </li>
    );
  }
  return scope ? <Node {...props} name={scope.name} /> : null;
}

type CreateOrganizationProps = {
  readonly onClose: () => void;
  readonly onCreated: (scope: ScopeRef) => void;
};

function CreateOrganization({ onClose, onCreated }: CreateOrganizationProps) {
  const [name, setName] = useState("");
  const create = useRpcMutation(OrganizationService.method.createOrganization, {
    changes: scopeMethods,
    onDone: ({ data }) => {
      onClose();
      if (data) onCreated({ level: "org", id: data.id });
    },
  });
  const submit = () => create.mutate({ name: name.trim() });
  return (
    <Dialog
      onClose={onClose}
      title="New organization"
      width="narrow"
      act={{
        label: "Create organization",
        isForm: true,
        disabled: name.trim() === "",
        busyLabel: "Creating…",
        run: submit,
        change: create,
        fields: ["name"],
      }}
    >
      <TextField
        label="Name"
        error={faultOf(create.error, "name")}
        value={name}
        onChange={setName}
      />
    </Dialog>
  );
}
