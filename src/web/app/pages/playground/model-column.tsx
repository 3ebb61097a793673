// One column of the playground: a model with its parameters, and its answer.

import { Play, Square, X } from "lucide-react";
import { GenerationService } from "../../../../../gen/waggle/v1/generation_pb.js";
import { Button, IconButton } from "../../design/button.tsx";
import type { Fields } from "../../design/chat-message.ts";
import { useMay } from "../../session/use-may.ts";
import { Answer } from "./answer.tsx";
import type { Column } from "./draft.ts";
import { ModelPicker } from "./model-picker.tsx";
import { Parameters } from "./parameters.tsx";
import type { Run } from "./run.ts";

export type ModelColumnProps = {
  readonly column: Column;
  readonly index: number;
  readonly count: number;
  readonly run: Run | undefined;
  readonly onChange: (column: Column) => void;
  readonly onRemove: () => void;
  readonly onRun: () => void;
  readonly onStop: () => void;
  /** Called with the answer that the messages shall go on from. */
  readonly onContinue: (answer: Fields) => void;
};

export function ModelColumn(props: ModelColumnProps) {
  const { column, index, count, run, onChange, onRemove, onRun, onStop, onContinue } = props;
  const mayRun = useMay()(GenerationService.method.streamChat);
  const name = count === 1 ? "Model" : `Model ${index + 1}`;
  return (
    <section className="playground-column" aria-label={name}>
      <header>
        <ModelPicker
          label={name}
          value={column.model}
          onChange={(model) => onChange({ ...column, model })}
        />
        <Parameters
          label={`Parameters of ${name.toLowerCase()}`}
          column={column}
          onChange={(parameters) => onChange({ ...column, parameters })}
        />
        {run?.state === "running" ? (
          <IconButton label={`Stop ${name.toLowerCase()}`} icon={<Square />} onClick={onStop} />
        ) : mayRun ? (
          <IconButton
            label={`Run ${name.toLowerCase()}`}
            icon={<Play />}
            disabled={column.model === ""}
            onClick={onRun}
          />
        ) : null}
        {count > 1 ? (
          <IconButton
            label={`Remove ${name.toLowerCase()}`}
            icon={<X />}
            onClick={() => {
              onStop();
              onRemove();
            }}
          />
        ) : null}
      </header>
      <Answer run={run} mayRun={mayRun} onContinue={onContinue} />
    </section>
  );
}

export function RunButton(props: {
  readonly isRunning: boolean;
  readonly isReady: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
}) {
  const { isRunning, isReady, onRun, onStop } = props;
  if (isRunning) {
    return (
      <Button icon={<Square />} onClick={onStop}>
        Stop
      </Button>
    );
  }
  return (
    <Button variant="primary" icon={<Play />} disabled={!isReady} onClick={onRun}>
      Run
    </Button>
  );
}
