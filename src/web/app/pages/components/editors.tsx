// Editors and charts of the design system.

import { useState } from "react";
import { Badge } from "../../design/badge.tsx";
import { HistogramChart, TimeSeriesChart } from "../../design/chart.tsx";
import { CodeEditor } from "../../design/code-editor.tsx";
import { formatCost, formatCount } from "../../design/format.ts";
import { SplitPane } from "../../design/split-pane.tsx";
import { Shown } from "./controls.tsx";

const code = `def evaluate(event):
    # Scores 1 when the answer names the order.
    answer = event["outputs"]["content"]
    return 1.0 if "order" in answer else 0.0
`;
const prompt = "Answer the question of {{ user.name }} in one sentence:\n\n{{ inputs.question }}\n";

export function Editors() {
  const [text, setText] = useState(code);
  return (
    <div className="shown">
      <Shown title="CodeEditor">
        <CodeEditor
          label="Evaluator"
          language="python"
          value={text}
          onChange={setText}
          faults={[{ line: 3, message: "KeyError: 'content'" }]}
        />
        <CodeEditor label="Prompt" language="prompt" value={prompt} isReadOnly />
      </Shown>
      <Charts />
      <Shown title="SplitPane">
        <div className="shown-split">
          <SplitPane
            label="Width of the list"
            storageKey="shown"
            first={<p>The list</p>}
            second={<p>Its details</p>}
          />
        </div>
      </Shown>
    </div>
  );
}

const hours = Array.from({ length: 48 }, (_, hour) => Date.UTC(2026, 10, 20, hour));
const wave = (scale: number, shift: number): number[] =>
  hours.map((_, index) => Math.round((Math.sin(index / 6 + shift) + 1.2) * scale));

function Charts() {
  const [range, setRange] = useState<string>();
  return (
    <Shown title="HistogramChart, TimeSeriesChart">
      <HistogramChart
        label="Calls"
        times={hours}
        format={formatCount}
        series={[
          { label: "ok", values: wave(400, 0), color: 1 },
          { label: "errors", values: wave(30, 2), color: "bad" },
        ]}
        onRange={({ from, to }) => setRange(`${Math.round((to - from) / 60_000)} minutes`)}
      />
      {range === undefined ? null : <Badge tone="accent">{range} brushed</Badge>}
      <TimeSeriesChart
        label="Cost by model"
        times={hours}
        format={formatCost}
        series={[
          { label: "gpt-5", values: wave(3, 0) },
          { label: "claude-sonnet-5", values: wave(2, 1) },
          { label: "gemini-3-flash", values: wave(1, 3) },
        ]}
      />
    </Shown>
  );
}
