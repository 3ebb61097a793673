// Prints the current step of a start that takes longer than two seconds.

import { print } from "./command.ts";

export type Progress = {
  /** Ends the previous step and begins the next. */
  step(name: string): void;
  done(): void;
};

const silentMs = 2_000;
const repeatMs = 10_000;

export function createProgress(): Progress {
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
        print(seconds > silentMs / 1_000 ? `still ${name}… (${seconds} s)` : `${name}…`);
        timer = setTimeout(report, repeatMs);
      };
      timer = setTimeout(report, silentMs);
    },
  };
}
