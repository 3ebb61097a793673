// The commands, settings and queries of a page of docs, for tests that run them as they stand.

import { readFileSync } from "node:fs";
import { expect } from "vitest";

/**
 * Returns the blocks of a page's section in their order, without indentation. They must be in
 * these languages.
 */
export function readBlocks(
  page: string,
  title: string,
  languages: readonly string[],
): readonly string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  const section = new RegExp(`^##+ ${title}$(.*?)(?=^##|$(?![^]))`, "ms").exec(text)?.[1] ?? "";
  const found = [...section.matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)];
  expect(found.map(([, , language]) => language)).toEqual(languages);
  return found.map(([, indent = "", , block = ""]) =>
    block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

/** Replaces what the page names by what it stands for; all of it must be there. */
export function replace(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((replaced, [name, value]) => {
    expect(replaced).toContain(name);
    return replaced.replaceAll(name, value);
  }, text);
}
