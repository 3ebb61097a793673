// LastRefusal: says beside the wait for the first trace why the last call was refused.

import { Link } from "@tanstack/react-router";
import { IngestionService } from "../../../../../../gen/waggle/v1/ingestion_pb.js";
import { useRpc } from "../../../api/query.ts";
import { Status } from "../../../design/badge.tsx";
import { Time } from "../../../design/values.tsx";
import { useMay } from "../../../session/use-may.ts";

const { getIngestion } = IngestionService.method;
const refreshMs = 3_000;

export function LastRefusal({ projectId }: { readonly projectId: string }) {
  const isEnabled = useMay({ level: "project", id: projectId })(getIngestion);
  const { data } = useRpc(getIngestion, { projectId }, { refreshMs, isEnabled });
  const last = data?.data?.groups.find(({ reason }) => reason !== "OK");
  if (!last) return null;
  return (
    <p role="status">
      <Status tone="bad">Refused</Status> <Time value={last.lastAt} />:{" "}
      {last.message ?? last.reason}{" "}
      <Link to="/app/p/$projectId/settings" params={{ projectId }} search={{ tab: "ingestion" }}>
        All that was refused
      </Link>
    </p>
  );
}
