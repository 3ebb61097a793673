// DatapointForm: the parts of a datapoint as JSON, each in an editor with its faults in place.

import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import { toChanged } from "../../api/changes.ts";
import { CodeEditor } from "../../design/code-editor.tsx";
import { useDraft } from "../../shell/drafts.ts";
import { formatJson, parseObject, parseObjects } from "./json-text.ts";

export type DatapointContent = {
  readonly inputs: JsonObject;
  readonly groundTruth: JsonObject | undefined;
  readonly metadata: JsonObject | undefined;
  readonly history: JsonObject[];
};

/**
 * Holds the texts of the four editors; `content` is undefined while one has a fault. With a key the
 * texts outlive the form until they are saved, see `useDraft`.
 */
export function useDatapointForm(initial: Partial<DatapointContent>, key?: string) {
  const [saved, setSaved] = useState(() => ({
    inputs: formatJson(initial.inputs ?? {}),
    groundTruth: formatJson(initial.groundTruth),
    metadata: formatJson(initial.metadata),
    history: initial.history?.length ? formatJson(initial.history) : "",
  }));
  // A draft has the changed texts alone: the others are those of the datapoint as it is now.
  const { draft, setDraft, forget } = useDraft<Partial<typeof saved>>(key, {});
  const texts = { ...saved, ...draft };
  const isChanged = JSON.stringify(texts) !== JSON.stringify(saved);
  const inputs = parseObject(texts.inputs, {});
  const groundTruth = parseObject(texts.groundTruth, undefined);
  const metadata = parseObject(texts.metadata, undefined);
  const history = parseObjects(texts.history);
  const parsed = { inputs, groundTruth, metadata, history };
  const isGood = Object.values(parsed).every(({ faults }) => faults.length === 0);
  const content: DatapointContent | undefined = isGood
    ? {
        inputs: inputs.value ?? {},
        groundTruth: groundTruth.value,
        metadata: metadata.value,
        history: history.value ?? [],
      }
    : undefined;
  return {
    texts,
    parsed,
    content,
    isChanged,
    setTexts: (next: typeof saved) => setDraft(toChanged(saved, next)),
    hasChanged: (part: string) => part in toChanged(saved, texts),
    revert: () => setDraft({}),
    /** Called when the texts were stored. */
    keep: () => {
      forget();
      setSaved(texts);
    },
  };
}

const parts = [
  { key: "inputs", label: "Inputs", hint: "What the application gets." },
  { key: "groundTruth", label: "Ground truth", hint: "The expected outputs; may stay empty." },
  { key: "metadata", label: "Metadata", hint: "Anything else; may stay empty." },
  { key: "history", label: "History", hint: "Messages before the inputs; may stay empty." },
] as const;

export type DatapointFormProps = {
  readonly form: ReturnType<typeof useDatapointForm>;
  readonly isReadOnly?: boolean;
  readonly onSubmit: () => void;
};

export function DatapointForm({ form, isReadOnly = false, onSubmit }: DatapointFormProps) {
  const { texts, setTexts, parsed } = form;
  return (
    <div className="form">
      {parts.map(({ key, label, hint }) => (
        <section key={key} className="section">
          <h3>{label}</h3>
          <p className="faint">{hint}</p>
          <CodeEditor
            label={label}
            language="json"
            linesMax={key === "inputs" ? 14 : 8}
            value={texts[key]}
            isReadOnly={isReadOnly}
            faults={parsed[key].faults}
            onSubmit={onSubmit}
            onChange={(text) => setTexts({ ...texts, [key]: text })}
          />
        </section>
      ))}
    </div>
  );
}
