// TrialResult: what a run answered: score, passed or not, why, what the code printed, the judge's
// call; or how it failed, with the traceback.

import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { toJson } from "@bufbuild/protobuf";
import type { ApiError } from "../../api/errors.ts";
import { Badge, Status } from "../../design/badge.tsx";
import { Cost, Duration } from "../../design/values.tsx";
import { failureOf } from "./draft.ts";
import type { Run } from "./use-trial.ts";

/** Returns a score as people read it. */
export function formatScore(value: Value | undefined): string {
  if (!value) return "–";
  const json = toJson(ValueSchema, value);
  return typeof json === "string" ? json : JSON.stringify(json);
}

export function TrialResult({ run }: { readonly run: Run }) {
  const { answer, error, isRunning } = run;
  if (isRunning === true) return <p className="trial-result">Running…</p>;
  if (error) return <TrialFailure error={error} />;
  if (!answer) return <p className="trial-result">Stopped</p>;
  const { success, result, explanation, passed, reason, output, judge, duration } = answer;
  return (
    <div className="trial-result">
      <p className="trial-score">
        {success ? (
          <b className="numeric">{formatScore(result)}</b>
        ) : (
          <Status tone="warn">not run: {reason ?? "no ground truth"}</Status>
        )}
        {passed === undefined ? null : (
          <Status tone={passed ? "good" : "bad"}>{passed ? "passed" : "not passed"}</Status>
        )}
        <Duration value={duration} />
        {judge ? (
          <>
            <Badge>{judge.model}</Badge> <Cost value={judge.cost} />
          </>
        ) : null}
      </p>
      {explanation ? <p>{explanation}</p> : null}
      {output === "" ? null : (
        <details>
          <summary>Printed</summary>
          <pre>{output}</pre>
        </details>
      )}
    </div>
  );
}

function TrialFailure({ error }: { readonly error: ApiError }) {
  const { traceback, output } = failureOf(error);
  return (
    <div className="trial-result" role="alert">
      <Status tone="bad">{error.message}</Status>
      {traceback ? <pre>{traceback}</pre> : null}
      {output ? (
        <details>
          <summary>Printed</summary>
          <pre>{output}</pre>
        </details>
      ) : null}
    </div>
  );
}
