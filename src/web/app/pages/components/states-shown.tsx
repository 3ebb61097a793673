// States of the design system: what stands where content is not, or not yet.

import { Waypoints } from "lucide-react";
import { ApiError } from "../../api/errors.ts";
import { Button } from "../../design/button.tsx";
import { EmptyState, ErrorState, Loading, Progress, Skeleton } from "../../design/states.tsx";
import { Shown } from "./controls.tsx";

const error = new ApiError("The field metadata.cots has no recorded values.", {
  errorCode: "INVALID_FILTER",
  isTransient: false,
});

export function States() {
  return (
    <div className="shown">
      <Shown title="EmptyState">
        <EmptyState icon={<Waypoints />} title="No runs yet" action={<Button>New run</Button>}>
          A run sends each datapoint of a dataset through your code, and scores the answers.
        </EmptyState>
      </Shown>
      <Shown title="ErrorState">
        <ErrorState error={error} onRetry={() => undefined} />
        <ErrorState error={error} isInline />
      </Shown>
      <Shown title="Loading, Skeleton, Progress">
        <Loading what="Loading sessions" />
        <Skeleton width="60%" />
        <Skeleton width="40%" />
        <Progress label="Backfill" value={0.42} detail="2,100 of 5,000 events" />
      </Shown>
    </div>
  );
}
