// Which commands the words in the palette mean, the best first.

import { defaultFilter } from "cmdk";
import { type Command, groupOf } from "./commands.ts";

/**
 * Returns the commands that have the words, whatever their group: first those of exactly this
 * title, then titles that begin with it, then titles with a word that begins with it, then those
 * with its letters in their order.
 */
export function rankCommands(commands: readonly Command[], typed: string): readonly Command[] {
  const words = plain(typed);
  return commands
    .map((command) => ({ command, rank: rankOf(command, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ command }) => command);
}

/** The score by letters is at most 1, so that a title that fits better outranks it. */
function rankOf(command: Command, typed: string): number {
  const title = plain(command.title);
  const more = [groupOf(command), ...(command.words ?? "").split(" ")];
  const byLetters = defaultFilter(`${command.title} ${command.id}`, typed, more);
  if (title === typed) return 3 + byLetters;
  if (title.startsWith(typed)) return 2 + byLetters;
  return (title.includes(` ${typed}`) ? 1 : 0) + byLetters;
}

function plain(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, " ");
}
