// CodeEditor: edits code, prompts and JSON. The editor itself (CodeMirror) loads when the first one
// is on the screen; until then the text is readable.

import { lazy, Suspense } from "react";
import type { CodeFault } from "./code-fault.ts";
import "./code-editor.css";

export type CodeLanguage = "json" | "python" | "prompt" | "text";

export type CodeEditorProps = {
  /** Read out as the name of the editor. */
  readonly label: string;
  readonly language: CodeLanguage;
  readonly value: string;
  readonly onChange?: (value: string) => void;
  readonly isReadOnly?: boolean;
  readonly faults?: readonly CodeFault[];
  /** Called for Ctrl or Cmd with Enter. */
  readonly onSubmit?: () => void;
  /** Lines that are seen before it scrolls by itself; default 24. */
  readonly linesMax?: number;
};

const Editor = lazy(async () => ({ default: (await import("./code-mirror.tsx")).CodeMirror }));

export function CodeEditor(props: CodeEditorProps) {
  return (
    <div className="code">
      <Suspense fallback={<pre className="code-waiting">{props.value}</pre>}>
        <Editor {...props} />
      </Suspense>
      <div className="code-faults" role="alert">
        {props.faults?.map(({ line, column, message }) => (
          <p key={`${line} ${column ?? 0} ${message}`}>
            <b>
              Line {line}
              {column === undefined ? "" : `, column ${column}`}:
            </b>{" "}
            {message}
          </p>
        ))}
      </div>
    </div>
  );
}
