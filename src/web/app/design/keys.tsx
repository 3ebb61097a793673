// Keys: a keyboard shortcut as keycaps. `mod` is the command key on Apple's systems, else Control.

import "./keys.css";

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

const names: Readonly<Record<string, string>> = {
  mod: isApple ? "⌘" : "Ctrl",
  shift: "⇧",
  alt: isApple ? "⌥" : "Alt",
  enter: "↵",
  escape: "Esc",
  up: "↑",
  down: "↓",
};

/** Shows keys such as `mod+k`, or one after another such as `g t`. */
export function Keys({ keys }: { readonly keys: string }) {
  return (
    <span className="keys">
      {keys.split(/[ +]/).map((key, index) => (
        <kbd key={index}>{names[key] ?? (key.length === 1 ? key.toUpperCase() : key)}</kbd>
      ))}
    </span>
  );
}
