// CodeMirror for `CodeEditor`. It stands in a shadow root: there its styles are style sheet
// objects, where in the page itself they would be style elements, which the policy forbids.

import { closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { CodeEditorProps, CodeLanguage } from "./code-editor.tsx";
import type { CodeFault } from "./code-fault.ts";
import { promptVariables, tokenTheme } from "./code-theme.ts";

const tabHint = "Tab indents. Escape, then Tab leaves the editor.";

/**
 * Tab indents, until Escape gives it back to the page for as long as the focus stays. In a dialog
 * Escape belongs to the dialog, so only code that stands in a page is edited so; in the other
 * languages Tab always leaves. Source: WCAG 2.1.2, No keyboard trap.
 */
const tabIndents: Extension = [
  keymap.of([indentWithTab]),
  Prec.high(
    keymap.of([
      {
        key: "Escape",
        run: (view) => {
          view.setTabFocusMode(true);
          return false;
        },
      },
    ]),
  ),
  EditorView.domEventHandlers({ blur: (_event, view) => view.setTabFocusMode(false) }),
  EditorView.contentAttributes.of({ "aria-description": tabHint }),
];

const languages: Record<CodeLanguage, () => Extension> = {
  json: () => json(),
  python: () => [python(), tabIndents],
  prompt: () => promptVariables,
  text: () => [],
};

const lineHeightPx = 20;

export function CodeMirror(props: CodeEditorProps) {
  const { label, language, value, isReadOnly = false, faults, linesMax = 24 } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const newest = useRef(props);
  const reported = useRef<string[]>([]);
  useEffect(() => {
    newest.current = props;
  });
  useEffect(() => {
    if (!host.current) return undefined;
    // React's strict mode mounts twice, and a shadow root stays.
    const root =
      host.current.shadowRoot ?? host.current.attachShadow({ mode: "open", delegatesFocus: true });
    const editor = new EditorView({
      root,
      parent: root as unknown as Element,
      state: createState(newest, reported.current),
    });
    view.current = editor;
    // The first element that can take the host's focus is the scroller, where nothing is typed.
    editor.scrollDOM.addEventListener("focus", () => editor.focus());
    focusFirst(host.current);
    return () => {
      editor.destroy();
      view.current = undefined;
    };
  }, []);
  useEffect(() => {
    view.current?.dispatch({
      effects: [
        modes.language.reconfigure(languages[language]()),
        modes.access.reconfigure(accessOf({ label, isReadOnly, linesMax })),
      ],
    });
  }, [language, isReadOnly, label, linesMax]);
  useEffect(() => {
    const editor = view.current;
    // While the page lags, `value` is a text that the editor reported before more was typed. Only
    // a text that the editor did not report replaces the text in it.
    const at = reported.current.lastIndexOf(value);
    reported.current.splice(0, at < 0 ? reported.current.length : at + 1);
    if (!editor || at >= 0 || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, toDiagnostics(editor.state, faults)));
  }, [faults]);
  return (
    <>
      {/* Dialogs look for tab stops in the page alone: the host is one and passes the focus on. */}
      <div ref={host} className="code-editor" data-read-only={isReadOnly} tabIndex={0} />
      {language === "python" && !isReadOnly ? <p className="code-hint">{tabHint}</p> : null}
    </>
  );
}

/** Gives a dialog's focus to its first field, an editor that loaded after the dialog opened. */
function focusFirst(host: HTMLElement): void {
  const dialog = host.closest<HTMLElement>(".dialog");
  if (dialog && dialog === document.activeElement) host.focus();
}

/** Parts of an editor that change while it is on the screen. */
const modes = { language: new Compartment(), access: new Compartment() };

/** Texts are added to `reported` as they are given to `onChange`. */
function createState(
  newest: { readonly current: CodeEditorProps },
  reported: string[],
): EditorState {
  const { value, language, label, isReadOnly = false, linesMax = 24 } = newest.current;
  return EditorState.create({
    doc: value,
    extensions: [
      keymap.of([
        {
          key: "Mod-Enter",
          run: () => {
            newest.current.onSubmit?.();
            return newest.current.onSubmit !== undefined;
          },
        },
        ...defaultKeymap,
        ...historyKeymap,
        ...searchKeymap,
      ]),
      history(),
      lineNumbers(),
      bracketMatching(),
      closeBrackets(),
      indentOnInput(),
      highlightSelectionMatches(),
      search({ top: true }),
      EditorView.lineWrapping,
      replaceSelection,
      modes.language.of(languages[language]()),
      modes.access.of(accessOf({ label, isReadOnly, linesMax })),
      tokenTheme,
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        const text = update.state.doc.toString();
        reported.push(text);
        newest.current.onChange?.(text);
      }),
    ],
  });
}

/**
 * Replaces a selection by typed text without the browser, which keeps the colour of replaced text
 * by an inline style; the policy would refuse and report it.
 */
const replaceSelection = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    const { state } = view;
    const { from, to, empty } = state.selection.main;
    if (inputType !== "insertText" || data === null || empty) return false;
    const insert = () =>
      state.update(state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    const handlers = state.facet(EditorView.inputHandler);
    const isDone = handlers.some((handle) => handle(view, from, to, data, insert));
    if (!isDone) view.dispatch(insert());
    return true;
  },
});

type Access = {
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly linesMax: number;
};

function accessOf({ label, isReadOnly, linesMax }: Access): Extension {
  return [
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({ "aria-label": label }),
    EditorView.theme({ ".cm-scroller": { maxHeight: `${linesMax * lineHeightPx}px` } }),
  ];
}

function toDiagnostics(state: EditorState, faults: readonly CodeFault[] = []): Diagnostic[] {
  return faults.map(({ line, column, message }) => {
    const { from, to } = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)));
    const start = column === undefined ? from : Math.min(to, from + column - 1);
    return { from: start, to, severity: "error", message };
  });
}
