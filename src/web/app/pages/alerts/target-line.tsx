// TargetLine: where notifications go; of addresses only the origin is known.

import type { NotificationTarget } from "../../../../../gen/waggle/v1/alert_pb.js";
import { Badge } from "../../design/badge.tsx";
import { formatCounted } from "../../design/format.ts";

export function TargetLine({ target }: { readonly target: NotificationTarget | undefined }) {
  if (!target) return <span aria-label="none">–</span>;
  const { channel, metadata, userIds } = target;
  const url = metadata?.["url"];
  const emails = Array.isArray(metadata?.["emails"]) ? metadata["emails"].map(String) : [];
  const to = typeof url === "string" ? [url] : emails;
  return (
    <span className="alert-filters">
      <Badge>{channel.toLowerCase()}</Badge> {to.join(", ")}
      {userIds.length > 0 ? ` ${formatCounted(userIds.length, "member")}` : ""}
    </span>
  );
}
