// Prices of models: at agreed rates, and of models that the price table does not know.

import { Plus } from "lucide-react";
import { useState } from "react";
import { type ModelPrice, ModelPriceService } from "../../../../../gen/waggle/v1/model_price_pb.js";
import { faultOf } from "../../api/faults.ts";
import { useRpcMutation, useRpcPages } from "../../api/query.ts";
import { connectionScope, levelNames, type ScopeRef } from "../../api/scope.ts";
import { Button } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { TextField } from "../../design/fields.tsx";
import { formatExactCost } from "../../design/format.ts";
import { ItemActs } from "../../design/item-acts.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ErrorState } from "../../design/states.tsx";
import { Time } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { type SettingsColumn, SettingsTable } from "./settings-table.tsx";

const { method } = ModelPriceService;

/** Kinds of tokens: field of the message, name in requests, label, and what holds without it. */
const kinds = [
  ["inputMtok", "input_mtok", "Input", undefined],
  ["outputMtok", "output_mtok", "Output", undefined],
  ["cacheReadMtok", "cache_read_mtok", "Cache read", "Empty: as input."],
  ["cacheWriteMtok", "cache_write_mtok", "Cache write", "Empty: as input."],
  ["inputAudioMtok", "input_audio_mtok", "Input audio", "Empty: as input."],
  ["outputAudioMtok", "output_audio_mtok", "Output audio", "Empty: as output."],
] as const;

type RateField = (typeof kinds)[number][0];

export function Prices({ scope }: { readonly scope: ScopeRef }) {
  const [open, setOpen] = useState<ModelPrice | "new">();
  const [leaving, setLeaving] = useState<ModelPrice>();
  const may = useMay(scope);
  const list = useRpcPages(method.listModelPrices, {
    scope: connectionScope(scope),
    limit: 1_000,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <div className="settings-acts">
        <h2>Prices</h2>
        {may(method.putModelPrice) ? (
          <Button icon={<Plus />} onClick={() => setOpen("new")}>
            Add price
          </Button>
        ) : null}
      </div>
      {list.error ? <ErrorState error={list.error} isInline /> : null}
      <p className="settings-note">
        US dollars per million tokens, of this {levelNames[scope.level]} before those of the scopes
        above it, before the built-in price table. They hold for events that are stored from now on.
      </p>
      {rows.length === 0 ? null : (
        <PriceTable
          rows={rows}
          onChange={may(method.putModelPrice) && setOpen}
          onDelete={may(method.deleteModelPrice) && setLeaving}
        />
      )}
      {open === undefined ? null : (
        <PriceForm
          scope={scope}
          before={open === "new" ? undefined : open}
          taken={rows.map(({ name }) => name)}
          onClose={() => setOpen(undefined)}
        />
      )}
      {leaving ? (
        <ConfirmCall
          onClose={() => setLeaving(undefined)}
          title={`Delete the price of ${leaving.name}`}
          description="Later calls cost what the scopes above or the built-in price table say."
          action="Delete price"
          busyLabel="Deleting…"
          method={method.deleteModelPrice}
          input={{ scope: connectionScope(scope), name: leaving.name }}
          changes={[method.listModelPrices]}
        />
      ) : null}
    </>
  );
}

type PriceTableProps = {
  readonly rows: readonly ModelPrice[];
  readonly onChange: false | ((price: ModelPrice) => void);
  readonly onDelete: false | ((price: ModelPrice) => void);
};

function PriceTable({ rows, onChange, onDelete }: PriceTableProps) {
  const used = kinds.filter(([field]) => rows.some((row) => row[field] !== undefined));
  const columns: readonly SettingsColumn<ModelPrice>[] = [
    { header: "Model", titleOf: ({ name }) => name, cell: ({ name }) => <code>{name}</code> },
    ...used.map(([field, , header]): SettingsColumn<ModelPrice> => {
      const textOf = ({ [field]: dollars }: ModelPrice) =>
        dollars === undefined ? "" : formatExactCost(dollars);
      return { header, align: "end", cell: textOf };
    }),
    { header: "Changed", cell: ({ updatedAt }) => <Time value={updatedAt} /> },
    {
      header: "Acts",
      isHeaderHidden: true,
      isMajor: true,
      className: "settings-row-acts",
      cell: (one) => (
        <ItemActs
          item={`price of ${one.name}`}
          onChange={onChange && (() => onChange(one))}
          onDelete={onDelete && (() => onDelete(one))}
        />
      ),
    },
  ];
  return <SettingsTable label="Prices" columns={columns} rows={rows} idOf={({ name }) => name} />;
}

type PriceFormProps = {
  readonly scope: ScopeRef;
  readonly before: ModelPrice | undefined;
  /** Names of the scope's prices: a new one must not replace another. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
};

function PriceForm({ scope, before, taken, onClose }: PriceFormProps) {
  const [typedName, setName] = useState(before?.name ?? "");
  const [typed, setTyped] = useState<Readonly<Partial<Record<RateField, string>>>>(() =>
    Object.fromEntries(kinds.map(([field]) => [field, before?.[field]?.toString() ?? ""])),
  );
  const put = useRpcMutation(method.putModelPrice, {
    changes: [method.listModelPrices],
    onDone: onClose,
  });
  const name = typedName.trim();
  const isTaken = before === undefined && taken.includes(name.toLowerCase());
  const isEmpty = kinds.every(([field]) => (typed[field] ?? "").trim() === "");
  const rates = () =>
    Object.fromEntries(
      kinds.flatMap(([field]) => {
        const text = (typed[field] ?? "").trim();
        return text === "" ? [] : [[field, Number(text)]];
      }),
    );
  return (
    <Dialog
      onClose={onClose}
      title={before ? `Change the price of ${before.name}` : "Add a price"}
      description="In US dollars per million tokens."
      act={{
        label: "Save price",
        disabled: name === "" || isTaken || isEmpty,
        busyLabel: "Saving…",
        run: () => put.mutate({ scope: connectionScope(scope), name, ...rates() }),
        change: put,
        fields: [...(before ? [] : ["name"]), ...kinds.map(([, rate]) => rate)],
      }}
    >
      {before ? null : (
        <TextField
          label="Model"
          hint="Or provider/model; a * at the end stands for any rest."
          placeholder="ft:gpt-4o:acme*"
          error={
            isTaken ? "There is a price of this name: change that one." : faultOf(put.error, "name")
          }
          value={typedName}
          onChange={setName}
        />
      )}
      <div className="price-rates">
        {kinds.map(([field, rate, label, hint]) => (
          <TextField
            key={field}
            label={label}
            hint={hint}
            inputMode="decimal"
            error={faultOf(put.error, rate)}
            value={typed[field] ?? ""}
            onChange={(text) => setTyped({ ...typed, [field]: text })}
          />
        ))}
      </div>
    </Dialog>
  );
}
