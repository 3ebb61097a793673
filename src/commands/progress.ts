// Prints the current step of a start, or of a wait, that takes longer than two seconds.

import { print } from "./command.ts";

export type Progress = {
  /** Ends the previous step and begins the next. */
  step(name: string): void;
  done(): void;
};

const silentMs = 2_000;
const repeatMs = 10_000;

/** Returns a progress whose lines go to `tell`; default: standard output. */
export function createProgress(tell: (line: string) => void = print): Progress {
  let timer: NodeJS.Timeout | undefined;
  function done(): void {
    clearTimeout(timer);
  }
  return {
    done,
    step(name) {
      done();
      const startMs = Date.now();
      const report = () => {
        const seconds = Math.round((Date.now() - startMs) / 1_000);
        tell(seconds > silentMs / 1_000 ? `still ${name}… (${seconds} s)` : `${name}…`);
        timer = setTimeout(report, repeatMs);
      };
      timer = setTimeout(report, silentMs);
    },
  };
}
