// Runs commands by their keys: one listener for the whole app.

import { useEffect } from "react";
import { currentCommands } from "./commands.ts";

/** Time within which the second key of a pair such as `g t` must follow. */
const pairMs = 900;

/** Keys that press the control with the focus, which go before those of a command. */
const pressKeys: ReadonlySet<string> = new Set(["enter", "space"]);
const controls = [
  "a[href]",
  "button",
  "summary",
  "input",
  "select",
  "textarea",
  "[role=button]",
  "[role=tab]",
  "[role=switch]",
  "[role=checkbox]",
  "[role=option]",
  "[role=menuitem]",
].join(", ");

/** Listens to keys while the component is on the screen; the shell uses it once. */
export function useShortcuts(): void {
  useEffect(() => {
    let first = "";
    let firstAtMs = 0;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      const key = keyOf(event);
      if (key === undefined) return;
      const hasModifier = key.startsWith("mod+");
      if (!hasModifier && (isTyping(event.target) || isUnderDialog(event.target))) return;
      if (pressKeys.has(key) && isControl(event.target)) return;
      const pair = event.timeStamp - firstAtMs < pairMs ? `${first} ${key}` : "";
      const commands = currentCommands().toReversed();
      const command =
        commands.find(({ keys }) => keys === pair) ?? commands.find(({ keys }) => keys === key);
      first = key;
      // When the key was pressed: a busy page hears of it later.
      firstAtMs = event.timeStamp;
      if (!command) return;
      event.preventDefault();
      first = "";
      command.run();
    };
    globalThis.addEventListener("keydown", onKeyDown);
    return () => globalThis.removeEventListener("keydown", onKeyDown);
  }, []);
}

function keyOf(event: KeyboardEvent): string | undefined {
  const { key } = event;
  if (["Shift", "Control", "Alt", "Meta"].includes(key) || event.altKey) return undefined;
  const isLetter = /^[a-z]$/i.test(key);
  const name = key === " " ? "space" : key.replace("Arrow", "").toLowerCase();
  return [
    ...(event.ctrlKey || event.metaKey ? ["mod"] : []),
    // For signs, such as `?`, the shift key is a part of the sign.
    ...(event.shiftKey && (isLetter || key.length > 1) ? ["shift"] : []),
    name,
  ].join("+");
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isText = target.matches("input:not([type=checkbox], [type=radio]), textarea, select");
  return isText || target.isContentEditable || target.shadowRoot !== null;
}

/** Returns whether a link, button or the like has the focus: it is what Enter and Space press. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(controls) !== null;
}

/** Returns whether a dialog or menu has the focus: its own keys go first. */
function isUnderDialog(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("[role=dialog], [role=menu]") !== null;
}
