// SnippetView: a program or a command to copy, as text.

import { Check, Copy } from "lucide-react";
import { Button } from "./button.tsx";
import { useCopy } from "./values.tsx";
import "./snippet-view.css";

export type SnippetViewProps = {
  readonly title: string;
  readonly code: string;
  /** The copied thing, such as `command`. */
  readonly what: string;
};

export function SnippetView({ title, code, what }: SnippetViewProps) {
  const { isCopied, copy } = useCopy(what);
  return (
    <figure className="snippet-view">
      <figcaption>
        <span>{title}</span>
        <Button
          size="small"
          variant="ghost"
          icon={isCopied ? <Check /> : <Copy />}
          onClick={() => copy(code)}
        >
          {isCopied ? "Copied" : `Copy ${what}`}
        </Button>
      </figcaption>
      <pre tabIndex={0} aria-label={title}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
