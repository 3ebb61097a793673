// QueueAgreementView: how far reviewers agree on each metric, and how to read the numbers.

import { type QueueAgreement, QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { useRpc } from "../../api/query.ts";
import { ErrorState } from "../../design/states.tsx";
import { KeyValue } from "../../design/values.tsx";

export function QueueAgreementView({ queueId }: { readonly queueId: string }) {
  const { data, error } = useRpc(QueueService.method.getQueueAgreement, { id: queueId });
  if (error) return <ErrorState error={error} isInline />;
  if (!data) return null;
  return (
    <section className="section">
      <h2>Agreement of reviewers</h2>
      {data.metrics.length === 0 ? (
        <p className="soft">
          Agreement needs scores of two reviewers on the same event; no event has them yet.
        </p>
      ) : (
        <>
          {data.metrics.map((metric) => (
            <MetricAgreement key={metric.metricId} metric={metric} />
          ))}
          <p className="faint">
            1 is full agreement, 0 is what chance alone would give, below 0 is worse than chance.
            Kappa (Cohen) compares exactly two reviewers; alpha (Krippendorff) any number, also with
            missing scores. From 0.8 on scores are dependable; below 0.67 the criteria need work.
          </p>
        </>
      )}
    </section>
  );
}

function MetricAgreement({ metric }: { readonly metric: QueueAgreement }) {
  const { name, events, reviewers, observedAgreement, cohenKappa, krippendorffAlpha } = metric;
  return (
    <KeyValue
      isRow
      items={[
        { label: "Metric", value: <b>{name}</b> },
        { label: "Equal pairs", value: percent(observedAgreement) },
        { label: "Kappa", value: fixed(cohenKappa) },
        { label: "Alpha", value: fixed(krippendorffAlpha) },
        { label: "Events", value: events },
        { label: "Reviewers", value: reviewers },
      ]}
    />
  );
}

// Only full agreement reads "100 %".
function percent(share: number | undefined): string {
  if (share === undefined) return "–";
  return share === 1 ? "100 %" : `${Math.min(share * 100, 99.9).toFixed(1)} %`;
}

function fixed(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(2);
}
