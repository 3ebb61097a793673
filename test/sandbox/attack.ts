// Shared by the escape suite: evaluators that try the attack written in each event, in Python, in
// JavaScript and in a worker of their own, and a neighbour who must be answered meanwhile.

import { afterAll, beforeAll, expect } from "vitest";
import type {
  PythonOutcome,
  PythonSandbox,
  PythonSession,
  SandboxLimits,
} from "../../src/evaluation/runner/python/sandbox.ts";
import { printFinding } from "../support/findings.ts";
import { anOwner, startMs, startSandbox } from "./start-sandbox.ts";

/** Deno's words for a permission that is not there. */
export const refused = /NotCapable|Requires \w+ access|denied/;

/** Runs the attack of an event; the loot is the evaluator's result. */
const evaluator = `
from pyodide.code import run_js

def evaluate(event):
    attempt = event["inputs"]
    if "python" in attempt:
        scope = {}
        exec(attempt["python"], scope)
        return str(scope["got"])
    return str(run_js(attempt["javascript"]))
`;

/** A row of a table of attempts: exactly one of the three. */
export type Attempt = {
  /** Leaves what it got in `got`. */
  readonly python?: string;
  /** The body of a function. */
  readonly javascript?: string;
  /** The body of an async function in a worker, whose event loop turns while Python runs. */
  readonly worker?: string;
};

export type Arena = {
  /**
   * Makes the attempt while the neighbour is answered. All attempts of a file share a process,
   * unless one of them ends it.
   */
  attempt(attempt: Attempt): Promise<PythonOutcome>;
  /** Runs code of its own in a process of its own, while the neighbour is answered. */
  run(code: string): Promise<PythonOutcome>;
  sandbox(): PythonSandbox;
};

/** Starts a sandbox for the file, and ends it; `of` says what its attacks are about. */
export function useArena(of: string, limits: Partial<SandboxLimits> = {}): Arena {
  let sandbox: PythonSandbox;
  let neighbour: PythonSession;
  let attacker: PythonSession | undefined;
  let tried = 0;
  let asking = Promise.resolve();

  beforeAll(async () => {
    sandbox = await startSandbox(limits);
    neighbour = await sandbox.open("def evaluate(event): return len(event['outputs'])", {
      owner: anOwner("neighbour"),
    });
    await expectAnswer();
  }, startMs);

  afterAll(async () => {
    printFinding({ attacks: of, tried });
    await sandbox.close();
  });

  /** Attempts that run at the same time ask the neighbour in turn. */
  function expectAnswer(): Promise<void> {
    asking = asking.then(askNeighbour, askNeighbour);
    return asking;
  }

  async function askNeighbour(): Promise<void> {
    const got = await neighbour.run({ outputs: { first: 1, second: 2 } });
    expect(got).toMatchObject({ kind: "value", value: 2 });
  }

  async function besideNeighbour(running: Promise<PythonOutcome>): Promise<PythonOutcome> {
    tried += 1;
    const [outcome] = await Promise.all([running, expectAnswer()]);
    await expectAnswer();
    return outcome;
  }

  return {
    async attempt(attempt) {
      attacker ??= await sandbox.open(evaluator, { owner: anOwner("attacker") });
      return besideNeighbour(attacker.run({ inputs: toInputs(attempt) }));
    },
    async run(code) {
      const session = await sandbox.open(code, { owner: anOwner("attacker") });
      try {
        return await besideNeighbour(session.run({ inputs: {} }));
      } finally {
        await session.close();
      }
    },
    sandbox: () => sandbox,
  };
}

function toInputs({ python, javascript, worker }: Attempt): { [key: string]: string } {
  if (python !== undefined) return { python };
  const body = worker === undefined ? javascript : inWorker(worker);
  return { javascript: `(() => { ${body} })()` };
}

/** Has the worker say what it got, or throws what it threw: within eight seconds. */
function inWorker(body: string): string {
  const source = `self.onmessage = async ({ data }) => {
    const say = (kind, said) => {
      const bytes = new TextEncoder().encode(String(said).slice(0, 1000));
      new Uint8Array(data, 8).set(bytes);
      new Int32Array(data, 4, 1)[0] = bytes.length;
      const flag = new Int32Array(data, 0, 1);
      Atomics.store(flag, 0, kind);
      Atomics.notify(flag, 0);
    };
    try { say(1, await (async () => { ${body} })()); } catch (error) { say(2, error); }
  };`;
  return `
    const shared = new SharedArrayBuffer(4096);
    const flag = new Int32Array(shared, 0, 1);
    const source = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(source)}`)};
    const worker = new Worker(source, { type: "module" });
    worker.postMessage(shared);
    Atomics.wait(flag, 0, 0, 8000);
    const said = new Uint8Array(shared, 8, new Int32Array(shared, 4, 1)[0]).slice();
    worker.terminate();
    if (flag[0] !== 1) throw new Error("worker: " + new TextDecoder().decode(said));
    return new TextDecoder().decode(said);`;
}

/** Returns the text of a failure, for diagnosis; the empty text for a value. */
export function messageOf(outcome: PythonOutcome): string {
  return outcome.kind === "failure" ? outcome.message : "";
}
