// The API reference: every operation of `/openapi.json`, with calls to try under a key that the
// reader enters. The key stays in the memory of the page.

import { useEffect, useRef, useState } from "react";
import { ErrorState, Loading } from "../../design/states.tsx";
import { useIsDark } from "../../shell/theme.ts";
import { ReferenceLayout } from "./reference-layout.tsx";
import "./operations.css";

export function ReferencePage() {
  return (
    <ReferenceLayout title="API reference">
      <Operations />
    </ReferenceLayout>
  );
}

function Operations() {
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<{ readonly isShown: boolean; readonly error?: Error }>({
    isShown: false,
  });
  useDarkReference();
  useEffect(() => {
    const { current } = place;
    if (!current) return;
    let isLeft = false;
    let end: (() => void) | undefined;
    const show = async (): Promise<void> => {
      const { showOperations } = await import("./operations.ts");
      if (!isLeft) end = showOperations(current, () => setState({ isShown: true }));
    };
    show().catch((error: unknown) => setState({ isShown: false, error: error as Error }));
    return () => {
      isLeft = true;
      end?.();
    };
  }, []);
  return (
    <div className="reference-content" role="region" aria-label="Operations" tabIndex={0}>
      <div ref={place} />
      {/* Below the operations: above them it would move the one that an address opens. */}
      {state.error ? <ErrorState error={state.error} /> : null}
      {state.isShown || state.error ? null : <Loading what="Loading the API reference" />}
    </div>
  );
}

/** Tells the library's style sheet of a dark page. */
function useDarkReference(): void {
  const isDark = useIsDark();
  useEffect(() => {
    const { classList } = document.documentElement;
    classList.toggle("dark-mode", isDark);
    return () => classList.remove("dark-mode");
  }, [isDark]);
}
