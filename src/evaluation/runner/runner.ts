// Runs a version of an evaluator on events, whatever its type: code in the sandbox, a prompt at a
// model. Source: docs/evaluators.md; docs/decisions.md, 22, 24.

import type { ProjectScope } from "../../access/scope.ts";
import { assertNever, ServiceError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Definition, ScoreType } from "../evaluators/definition.ts";
import { checkScore, type Score } from "../score.ts";
import type { Judge } from "./judge/judge.ts";
import type { PythonOutcome, PythonSandbox } from "./python/sandbox.ts";

/** The call of a judge's model. */
export type JudgeCall = {
  /** Name of the connection that answered. */
  readonly provider: string;
  readonly model: string;
  /** Null where the provider does not say. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** US dollars; null where the price is not known. */
  readonly cost: number | null;
  /** Its beginning. */
  readonly answer: string;
};

/** What came of one event. */
export type RunResult =
  | {
      readonly kind: "score";
      readonly score: Score;
      /** At most 10,000 characters. */
      readonly explanation: string | undefined;
      /** What the code printed, or what the prompt named and the event lacks. */
      readonly output: string;
      readonly judge?: JudgeCall;
    }
  | {
      readonly kind: "failure";
      /** In capitals: `EXCEPTION`, `TIME_LIMIT`, `NO_SCORE`. */
      readonly reason: string;
      /** For people. */
      readonly message: string;
      /** Of the evaluator's own code; at most 10,000 characters. */
      readonly traceback?: string;
      readonly output: string;
      readonly judge?: JudgeCall;
    };

/** What of a definition is run; without a return type any score may come. */
export type RunnableDefinition = Pick<
  Definition,
  "type" | "criteria" | "model_provider" | "model_name" | "scale" | "categories"
> & { readonly return_type: ScoreType | undefined };

/** A version that is open for events. */
export type OpenRunner = {
  /** Events that may be run at a time. */
  readonly concurrency: number;
  /**
   * Runs it on an event as toEvaluatedEvent shows it. What is wrong with the evaluator is a
   * failure. Fails with PROVIDER_FAILED, PROVIDER_LIMITED, PROVIDER_TIMEOUT, SANDBOX_UNAVAILABLE or
   * OVERLOADED, which say nothing about it, and with the signal's reason once that is aborted.
   */
  run(event: JsonObject): Promise<RunResult>;
  /** Whether others wait for what this holds. */
  isWanted(): boolean;
  /** Ends what runs. */
  close(): Promise<void>;
};

export type Runner = {
  /**
   * Opens what runs one version on a chunk of events, or on one: a process of the sandbox, or the
   * way to a judge's model. Fails with OVERLOADED, and with INVALID_ARGUMENT for a metric that
   * people judge.
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
    // After one evaluator others come: from here on a process is kept ready.
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

/** What code returns is checked here once more: a process is only believed what its rules allow. */
function toResult(outcome: PythonOutcome, definition: RunnableDefinition): RunResult {
  if (outcome.kind === "failure") return outcome;
  const { value, explanation, output } = outcome;
  const checked = checkScore(value, definition);
  if ("fault" in checked) {
    return { kind: "failure", reason: "RESULT", message: checked.fault, output };
  }
  return { kind: "score", score: checked.score, explanation, output };
}
