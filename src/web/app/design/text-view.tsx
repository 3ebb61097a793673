// TextView: text as it was sent, inert: no markdown, no HTML, no links. Long text is cut to what
// one reads at once, and shown in full by a button.

import { useState } from "react";
import { Button } from "./button.tsx";
import { formatBytes } from "./format.ts";
import "./text-view.css";

export type TextViewProps = {
  readonly text: string;
  /** Characters that are shown at first. */
  readonly previewChars?: number;
  /** `mono` for code and logs. */
  readonly kind?: "prose" | "mono";
};

/** Characters that one more press adds: what a browser lays out without a pause. */
const stepChars = 100_000;

export function TextView({ text, previewChars = 4_000, kind = "prose" }: TextViewProps) {
  const [shownChars, setShownChars] = useState(previewChars);
  const rest = text.length - shownChars;
  return (
    <div className="text-view" data-kind={kind} dir="auto">
      {rest > 0 ? `${text.slice(0, shownChars)}…` : text}
      {rest > 0 ? (
        <div className="text-view-more" dir="ltr">
          <Button size="small" onClick={() => setShownChars(shownChars + stepChars)}>
            Show more
          </Button>
          <span>{formatBytes(rest)} more</span>
        </div>
      ) : null}
    </div>
  );
}
