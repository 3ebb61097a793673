// PromptDiff: what differs between two versions of a prompt, field by field; the template by lines.

import { ConfigurationVersionService } from "../../../../../gen/waggle/v1/configuration_version_pb.js";
import { useRpc } from "../../api/query.ts";
import { ReadState } from "../../design/states.tsx";
import { TextDiff } from "../../design/text-diff.tsx";
import { diffLines } from "../../design/diff-lines.ts";
import { formatValue } from "../../design/format.ts";
import { fromValue } from "../datasets/to-value.ts";

export type PromptDiffProps = {
  readonly promptId: string;
  readonly from: string;
  readonly to: string;
};

export function PromptDiff({ promptId, from, to }: PromptDiffProps) {
  const answer = useRpc(
    ConfigurationVersionService.method.compareConfigurationVersions,
    { id: promptId, version: from, other: to },
    { keepsPrevious: true },
  );
  const found = answer.data?.data;
  if (answer.error || !found) return <ReadState read={answer} what="Comparing the versions" />;
  const { changes } = found;
  if (changes.length === 0) return <p className="soft">The two are the same.</p>;
  return changes.map(({ field, before, after, lines }) => (
    <section key={field} className="section" aria-label={field}>
      <h3>
        <code>{field}</code>
      </h3>
      <TextDiff
        label={field}
        lines={
          lines.length > 0
            ? lines.map(({ kind, text }) => ({ kind: kind as "same" | "added" | "removed", text }))
            : diffLines(formatValue(fromValue(before)), formatValue(fromValue(after)))
        }
      />
    </section>
  ));
}
