// QueueProgressView: how many events of a queue have all their reviews.

import type { QueueProgress } from "../../../../../gen/waggle/v1/queue_pb.js";
import { formatExactCount } from "../../design/format.ts";
import { Progress } from "../../design/states.tsx";

export function QueueProgressView({ progress }: { readonly progress: QueueProgress }) {
  const { pending, claimed, completed, passedOver } = progress;
  const all = pending + claimed + completed;
  const counts = [
    `${formatExactCount(completed)} of ${formatExactCount(all)}`,
    `${formatExactCount(claimed)} claimed`,
    `${formatExactCount(pending)} waiting`,
    ...(passedOver > 0 ? [`${formatExactCount(passedOver)} passed over`] : []),
  ];
  return (
    <Progress label="Reviewed" value={all === 0 ? 0 : completed / all} detail={counts.join(", ")} />
  );
}
