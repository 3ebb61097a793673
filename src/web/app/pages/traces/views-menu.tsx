// Saved views of the traces: apply, save, rename, share, delete.

import { Bookmark, Pencil, Save, Trash2, Users } from "lucide-react";
import { useState } from "react";
import { type View, ViewService } from "../../../../../gen/waggle/v1/view_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { TextField } from "../../design/fields.tsx";
import { Checkbox } from "../../design/input.tsx";
import { Menu, type MenuItem } from "../../design/menu.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { showToast } from "../../design/toast.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import type { TracesSearch } from "./search.ts";
import { hasChanged, toSearch, toViewState, viewsPage } from "./view-state.ts";

export type ViewsMenuProps = {
  readonly search: TracesSearch;
  readonly onApply: (search: TracesSearch) => void;
};

const { method } = ViewService;
const changes = [method.listViews];

export function ViewsMenu({ search, onApply }: ViewsMenuProps) {
  const mayCreate = useMay()(method.createView);
  const { data } = useRpc(method.listViews, { page: viewsPage }, { staleMs: 60_000 });
  const views = data?.data ?? [];
  const current = views.find(({ id }) => id === search.view);
  const [dialog, setDialog] = useState<"save" | "rename" | "delete">();
  const isChanged = current !== undefined && hasChanged(search, current);
  const ownItems = useOwnItems({ view: current, search, isChanged, onOpen: setDialog });
  const itemsOf = (heading: string, isShared: boolean) => {
    const found = views.filter(({ shared }) => shared === isShared);
    return viewItems(heading, found, search, onApply);
  };
  useCommands([
    mayCreate && {
      id: "traces.save-view",
      title: "Save as view",
      keys: "s",
      run: () => setDialog("save"),
    },
    ...views.map((view) => ({
      id: `traces.view.${view.id}`,
      title: `Show the view “${view.name}”`,
      group: "Views",
      run: () => onApply(toSearch(view)),
    })),
  ]);
  return (
    <>
      <Menu
        align="end"
        trigger={
          <Button size="small" icon={<Bookmark />} className="views-button">
            <span className="truncate">{current?.name ?? "Views"}</span>
            {isChanged ? <span aria-label="changed">*</span> : null}
          </Button>
        }
        items={[
          ...ownItems,
          ...itemsOf("Mine", false),
          ...itemsOf("Shared", true),
          mayCreate && {
            label: "Save as view…",
            icon: <Save />,
            keys: "s",
            onSelect: () => setDialog("save"),
          },
        ]}
      />
      {dialog === "save" || dialog === "rename" ? (
        <ViewDialog
          view={dialog === "rename" ? current : undefined}
          search={search}
          onClose={() => setDialog(undefined)}
          onSaved={(view) => onApply(toSearch(view))}
        />
      ) : null}
      {dialog === "delete" && current ? (
        <ConfirmCall
          onClose={() => setDialog(undefined)}
          title={`Delete “${current.name}”?`}
          description={
            current.shared
              ? "It is gone for everyone in the project. The traces stay."
              : "The traces stay; only the saved view is gone."
          }
          action="Delete view"
          busyLabel="Deleting…"
          method={method.deleteView}
          input={{ viewId: current.id }}
          changes={changes}
          onDone={() => {
            setDialog(undefined);
            onApply({ ...search, view: undefined });
          }}
        />
      ) : null}
    </>
  );
}

type OwnItemsOptions = {
  readonly view: View | undefined;
  readonly search: TracesSearch;
  readonly isChanged: boolean;
  readonly onOpen: (dialog: "rename" | "delete") => void;
};

/** Returns what the person may do with the view that was applied. */
function useOwnItems({ view, search, isChanged, onOpen }: OwnItemsOptions) {
  const may = useMay();
  const update = useRpcMutation(method.updateView, {
    changes,
    onDone: () => showToast({ text: "The view shows this now." }),
  });
  if (view === undefined) return [];
  const onError = ({ message }: ApiError): void =>
    showToast({ text: `The view was not updated: ${message}`, tone: "bad" });
  const items: readonly (MenuItem | false)[] = [
    may(method.updateView) && {
      label: "Update to what is shown",
      icon: <Save />,
      isDisabled: !isChanged,
      onSelect: () =>
        update.mutate({ viewId: view.id, view: { state: toViewState(search) } }, { onError }),
    },
    may(method.updateView) && {
      label: "Rename or share…",
      icon: <Pencil />,
      onSelect: () => onOpen("rename"),
    },
    may(method.deleteView) && {
      label: "Delete the view…",
      icon: <Trash2 />,
      isDanger: true,
      onSelect: () => onOpen("delete"),
    },
    "line",
  ];
  return items;
}

function viewItems(
  heading: string,
  views: readonly View[],
  search: TracesSearch,
  onApply: ViewsMenuProps["onApply"],
): readonly MenuItem[] {
  if (views.length === 0) return [];
  return [
    { heading },
    ...views.map((view) => ({
      label: view.name,
      icon: view.shared ? <Users /> : <Bookmark />,
      isChecked: view.id === search.view,
      onSelect: () => onApply(toSearch(view)),
    })),
    "line",
  ];
}

type ViewDialogProps = {
  /** View to rename; undefined for a new one. */
  readonly view: View | undefined;
  readonly search: TracesSearch;
  readonly onClose: () => void;
  readonly onSaved: (view: View) => void;
};

function ViewDialog({ view, search, onClose, onSaved }: ViewDialogProps) {
  const [name, setName] = useState(view?.name ?? "");
  const [isShared, setShared] = useState(view?.shared ?? false);
  const options = {
    changes,
    onDone: ({ data }: { data?: View | undefined }) => {
      onClose();
      // A new name leaves the list as it is.
      if (data && view === undefined) onSaved(data);
    },
  };
  const create = useRpcMutation(method.createView, options);
  const update = useRpcMutation(method.updateView, options);
  const save = (): void => {
    const fields = { name: name.trim(), shared: isShared };
    if (view) update.mutate({ viewId: view.id, view: fields });
    else create.mutate({ view: { ...fields, page: viewsPage, state: toViewState(search) } });
  };
  return (
    <Dialog
      onClose={onClose}
      width="narrow"
      title={view ? "Rename view" : "Save view"}
      act={{
        label: view ? "Save" : "Save view",
        isForm: true,
        disabled: name.trim() === "",
        busyLabel: "Saving…",
        run: save,
        change: view ? update : create,
      }}
    >
      <TextField
        label="Name"
        hint="Filters, range, columns and search are kept."
        autoFocus
        maxLength={256}
        value={name}
        onChange={setName}
      />
      <Checkbox
        label="Share with everyone in the project"
        checked={isShared}
        onChange={setShared}
      />
    </Dialog>
  );
}
