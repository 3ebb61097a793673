// Colours of CodeMirror from the tokens, and the marks of `{{ variable }}` in prompts.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { Decoration, EditorView, MatchDecorator, ViewPlugin } from "@codemirror/view";
import type { DecorationSet, ViewUpdate } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "transparent", fontSize: "var(--text-12)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 12px 0 6px" },
  ".cm-gutters": { color: "var(--text-faint)", backgroundColor: "transparent", border: "none" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "var(--accent-line) !important",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--surface-pressed)",
    color: "inherit",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
  ".cm-searchMatch": { backgroundColor: "var(--accent-line)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--surface-sunken)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-textfield, .cm-button": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    border: "1px solid var(--line-control)",
    borderRadius: "4px",
    fontSize: "var(--text-12)",
  },
  ".cm-tooltip": {
    color: "var(--text)",
    backgroundColor: "var(--surface-floating)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    fontFamily: "var(--font)",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "3px",
  },
  ".cm-prompt-variable": {
    color: "var(--accent-text)",
    backgroundColor: "var(--accent-soft)",
    borderRadius: "3px",
  },
});

const syntax = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--series-4)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--info)" },
  { tag: [tags.propertyName], color: "var(--accent-text)" },
  {
    tag: [tags.function(tags.variableName), tags.definition(tags.variableName)],
    color: "var(--info)",
  },
  { tag: [tags.comment], color: "var(--text-faint)", fontStyle: "italic" },
  { tag: [tags.invalid], color: "var(--bad)" },
]);

export const tokenTheme: Extension = [look, syntaxHighlighting(syntax)];

const variables = new MatchDecorator({
  regexp: /\{\{\s*[^{}]{1,200}\}\}/g,
  decoration: Decoration.mark({ class: "cm-prompt-variable" }),
});

/** Marks `{{ variable }}`, the only syntax that prompts have. */
export const promptVariables: Extension = ViewPlugin.define(
  (view) => ({
    decorations: variables.createDeco(view),
    update(update: ViewUpdate) {
      this.decorations = variables.updateDeco(update, this.decorations);
    },
  }),
  { decorations: (plugin: { readonly decorations: DecorationSet }) => plugin.decorations },
);
