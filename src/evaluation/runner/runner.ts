// Runs a version of an evaluator on events, for every type: code in the sandbox, a prompt at a
// model. Source: docs/evaluators.md; docs/decisions.md, 22.3, 24.2.

import type { ProjectScope } from "../../access/scope.ts";
import { assertNever, ServiceError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Definition, ScoreType } from "../metrics/definition.ts";
import { checkScore, type Score } from "../scores/score.ts";
import type { PythonOutcome, PythonSandbox } from "./python/sandbox.ts";

/** A call of a judge's model. */
export type JudgeCall = {
  /** Name of the connection that answered. */
  readonly provider: string;
  readonly model: string;
  /** Null if the provider does not report it. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** US dollars; null if the price is unknown. */
  readonly cost: number | null;
  /** Beginning of the answer. */
  readonly answer: string;
};

/** Result for one event. */
export type RunResult =
  | {
      readonly kind: "score";
      readonly score: Score;
      /** Explanation of at most 10,000 characters. */
      readonly explanation: string | undefined;
      /** Text that the code printed, or names in the prompt that the event lacks. */
      readonly output: string;
      readonly judge?: JudgeCall;
    }
  | {
      readonly kind: "failure";
      /** Reason in capitals: `EXCEPTION`, `TIME_LIMIT`, `NO_SCORE`. */
      readonly reason: string;
      /** Human-readable text. */
      readonly message: string;
      /** Traceback of the evaluator's own code; at most 10,000 characters. */
      readonly traceback?: string;
      readonly output: string;
      readonly judge?: JudgeCall;
    };

/** Runnable part of a definition; without a return type any score is valid. */
export type RunnableDefinition = Pick<
  Definition,
  "type" | "criteria" | "model_provider" | "model_name" | "scale" | "categories"
> & { readonly return_type: ScoreType | undefined };

/** A version opened for events. */
export type OpenRunner = {
  /** Maximum concurrent runs. */
  readonly concurrency: number;
  /**
   * Runs the version on an event from toEvaluatedEvent. A fault of the evaluator is a failure.
   * Throws PROVIDER_FAILED, PROVIDER_LIMITED, PROVIDER_TIMEOUT, SANDBOX_UNAVAILABLE or OVERLOADED,
   * which are not the evaluator's fault, and the signal's reason once it is aborted.
   */
  run(event: JsonObject): Promise<RunResult>;
  /** Returns whether others are waiting for its place. */
  isWanted(): boolean;
  /** Ends running evaluations. */
  close(): Promise<void>;
};

export type Judge = {
  /** Opens a prompt for events. A fault in the prompt fails every event. */
  open(project: ProjectScope, definition: RunnableDefinition, signal: AbortSignal): OpenRunner;
};

export type Runner = {
  /**
   * Opens one version for a chunk of events, or for one: a process of the sandbox, or a judge's
   * model. Throws OVERLOADED, and INVALID_ARGUMENT for a metric that people judge.
   */
  open(
    project: ProjectScope,
    what: { readonly definition: RunnableDefinition },
    signal: AbortSignal,
  ): Promise<OpenRunner>;
};

export type RunnerOptions = {
  readonly sandbox: Pick<PythonSandbox, "open" | "start" | "isCrowded">;
  readonly judge: Judge;
};

export function createRunner({ sandbox, judge }: RunnerOptions): Runner {
  async function openPython(
    project: ProjectScope,
    definition: RunnableDefinition,
    signal: AbortSignal,
  ): Promise<OpenRunner> {
    // One evaluator is followed by others, so from here on processes are kept ready.
    sandbox.start();
    const session = await sandbox.open(definition.criteria, { owner: project, signal });
    return {
      concurrency: 1,
      run: async (event) => toResult(await session.run(event), definition),
      isWanted: () => sandbox.isCrowded(),
      close: () => session.close(),
    };
  }

  return {
    async open(project, { definition }, signal) {
      const { type } = definition;
      switch (type) {
        case "PYTHON":
          return openPython(project, definition, signal);
        case "LLM":
          return judge.open(project, definition, signal);
        case "HUMAN":
          throw new ServiceError("INVALID_ARGUMENT", "metric.type: HUMAN is judged by people");
        default:
          return assertNever(type);
      }
    },
  };
}

/** Checks the returned value again, because a process is not trusted. */
function toResult(outcome: PythonOutcome, definition: RunnableDefinition): RunResult {
  if (outcome.kind === "failure") return outcome;
  const { value, explanation, output } = outcome;
  const checked = checkScore(value, definition);
  if ("fault" in checked) {
    return { kind: "failure", reason: "RESULT", message: checked.fault, output };
  }
  return { kind: "score", score: checked.score, explanation, output };
}
