// A text that follows its source once that rests, such as what is typed into a search field.

import { useEffect, useState } from "react";

/** Returns the newest text that stood unchanged for a time, in milliseconds. */
export function useSettled(text: string, settleMs: number): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text, settleMs]);
  return settled;
}
