// ReadingNote: says that a session is still being read. It hangs over the content, so that nothing
// moves when it comes and goes.

import { useEffect, useState } from "react";
import { Badge } from "../../design/badge.tsx";

/** Time before the note is shown: most sessions are whole by then. */
const quietMs = 600;

export function ReadingNote({ isReading }: { readonly isReading: boolean }) {
  return (
    <div className="session-reading" role="status" data-reading={isReading}>
      {isReading ? <LateNote /> : null}
    </div>
  );
}

function LateNote() {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), quietMs);
    return () => clearTimeout(timer);
  }, []);
  return isLate ? <Badge>Loading more events</Badge> : null;
}
