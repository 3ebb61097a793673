// Picks the model of a column: aliases and the models of every provider that the project can use;
// any other name may be typed.

import { ChevronsUpDown } from "lucide-react";
import { LlmProxyService } from "../../../../../gen/waggle/v1/llm_proxy_pb.js";
import { useRpc } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { Combobox } from "../../design/combobox.tsx";
import { useMay } from "../../session/use-may.ts";

const staleMs = 60_000;

/** Reads the models of the project, if the person may. */
export function useModels() {
  const { listModels } = LlmProxyService.method;
  return useRpc(listModels, {}, { staleMs, isEnabled: useMay()(listModels) });
}

export type ModelPickerProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (model: string) => void;
};

export function ModelPicker({ label, value, onChange }: ModelPickerProps) {
  const { data } = useModels();
  const options = (data?.data ?? []).map(({ id, ownedBy }) => ({
    value: id,
    label: id,
    group: ownedBy === "waggle" ? "Aliases" : ownedBy,
  }));
  return (
    <Combobox
      label="Models"
      placeholder="Find or type a model…"
      emptyText="Type the name of a model, such as openai/gpt-5-mini."
      isOpenEnded
      options={options}
      value={value}
      onChange={onChange}
      trigger={
        <Button className="model-picker" aria-label={`${label}: ${value || "choose a model"}`}>
          <span className="truncate">{value || "Choose a model"}</span>
          <ChevronsUpDown aria-hidden />
        </Button>
      }
    />
  );
}
