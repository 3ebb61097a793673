// A program or a command to copy, as text.

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../../design/button.tsx";
import { copyText } from "../../../design/values.tsx";

export type SnippetCodeProps = {
  readonly title: string;
  readonly code: string;
  /** The copied thing, such as `command`. */
  readonly what: string;
};

const copiedMs = 1_500;

export function SnippetCode({ title, code, what }: SnippetCodeProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <figure className="snippet">
      <figcaption>
        <span>{title}</span>
        <Button
          size="small"
          variant="ghost"
          icon={isCopied ? <Check /> : <Copy />}
          onClick={() => void copyText(code, what).then(setCopied)}
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
