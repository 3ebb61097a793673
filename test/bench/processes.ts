// Processor time and memory of processes, from /proc; the benches therefore need Linux.

import { readdir, readFile } from "node:fs/promises";

/** Clock ticks per second on nearly all kernels (CONFIG_HZ of user space, `getconf CLK_TCK`). */
const ticksPerSecond = 100;

type Stat = { readonly parent: number; readonly own: number; readonly ended: number };

async function readStat(pid: number): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  // The name, in parentheses, may contain spaces; only numbers follow it after the state.
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [
    1, 11, 12, 13, 14,
  ].map((index) => fields[index]);
  return {
    parent,
    own: (user + system) / ticksPerSecond,
    ended: (endedUser + endedSystem) / ticksPerSecond,
  };
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map(async (one) => [one, await readStat(one)] as const));
  return stats.filter(([, stat]) => stat?.parent === pid).map(([one]) => one);
}

/** Returns the processor seconds of one process, without its children. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  return (await readStat(pid))?.own ?? 0;
}

/** Returns the processor seconds of the threads of a process, counted in nanoseconds. */
export async function threadSecondsOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const seconds = await Promise.all(
    threads.map(async (thread) => {
      // A thread may end meanwhile.
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => "0");
      return Number(text.split(" ")[0]) / 1e9;
    }),
  );
  return seconds.reduce((sum, one) => sum + one, 0);
}

/** Returns the processor seconds of a process and its children, including ended children. */
export async function cpuSecondsOfTree(pid: number): Promise<number> {
  const [own, children] = await Promise.all([readStat(pid), childrenOf(pid)]);
  const inside = await Promise.all(children.map(cpuSecondsOf));
  return (own?.own ?? 0) + (own?.ended ?? 0) + inside.reduce((sum, one) => sum + one, 0);
}

/** Returns the maximum resident memory of a process since its start, in megabytes. */
export function peakMemoryMb(pid: number): Promise<number> {
  return readStatusMb(pid, /^VmHWM:\s+(\d+) kB/m);
}

/** Returns the current resident memory of a process, in megabytes. */
export function memoryMb(pid: number): Promise<number> {
  return readStatusMb(pid, /^VmRSS:\s+(\d+) kB/m);
}

async function readStatusMb(pid: number, pattern: RegExp): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(pattern.exec(status)?.[1]) / 1_024);
}

/**
 * Returns the current proportional memory of a process and its children (shared pages once), in MB.
 */
export async function memoryOfTreeMb(pid: number): Promise<number> {
  const sizes = await Promise.all(
    [pid, ...(await childrenOf(pid))].map(async (one) => {
      const text = await readFile(`/proc/${one}/smaps_rollup`, "utf8").catch(() => "");
      return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0);
    }),
  );
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1_024);
}
