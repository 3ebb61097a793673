// Debounces what a person types or picks: the service is asked once it rests, not at each key.

import { useEffect, useState } from "react";

/** Returns the newest value that stood unchanged for a time, in milliseconds. */
export function useSettled<T extends string | object>(value: T, settleMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMs);
    return () => clearTimeout(timer);
  }, [value, settleMs]);
  return settled;
}
