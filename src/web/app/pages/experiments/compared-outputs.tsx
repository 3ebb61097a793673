// ComparedOutputs: the outputs of both runs on the open datapoint, and how the texts differ.

import type { JsonObject } from "@bufbuild/protobuf";
import { RunService } from "../../../../../gen/waggle/v1/run_pb.js";
import { useRpc } from "../../api/query.ts";
import { diffLines } from "../../design/diff-lines.ts";
import { formatValue } from "../../design/format.ts";
import { ReadState } from "../../design/states.tsx";
import { TextDiff } from "../../design/text-diff.tsx";
import { TextView } from "../../design/text-view.tsx";
import { experimentsRoute } from "./route.tsx";

export type ComparedOutputsProps = { readonly baseId: string; readonly newId: string };

export function ComparedOutputs({ baseId, newId }: ComparedOutputsProps) {
  const { datapoint } = experimentsRoute.useSearch();
  const answer = useRpc(
    RunService.method.compareRunEvents,
    { runId1: baseId, runId2: newId, limit: 1_000 },
    { isEnabled: datapoint !== undefined },
  );
  if (datapoint === undefined) {
    return <p className="soft">Open a datapoint to read both outputs side by side.</p>;
  }
  const { data, error } = answer;
  if (error || !data) return <ReadState read={answer} what="Loading both outputs" />;
  const pair = data.events.find(({ datapointId }) => datapointId === datapoint);
  if (!pair) return <p className="soft">The sessions of this datapoint have no outputs.</p>;
  const before = textOf(pair.event1?.outputs);
  const after = textOf(pair.event2?.outputs);
  return (
    <section className="section" aria-label="Outputs">
      <h2>Outputs</h2>
      <div className="outputs">
        {[
          { title: "Base", text: before },
          { title: "New", text: after },
        ].map(({ title, text }) => (
          <div key={title} className="section">
            <h3>{title}</h3>
            <div
              className="text-block"
              tabIndex={0}
              role="region"
              aria-label={`Output of ${title}`}
            >
              <TextView text={text} />
            </div>
          </div>
        ))}
      </div>
      <TextDiff label="the outputs" lines={diffLines(before, after)} />
    </section>
  );
}

/** The text of an answer where it is one; else the JSON of the outputs. */
function textOf(outputs: JsonObject | undefined): string {
  const { content, answer } = outputs ?? {};
  for (const text of [content, answer]) if (typeof text === "string") return text;
  return formatValue(outputs);
}
