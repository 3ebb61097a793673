// SearchBox: the words of a search, which go to the address once typing rests.

import { Search } from "lucide-react";
import { type RefObject, useEffect, useState } from "react";
import { Input } from "./input.tsx";

export type SearchBoxProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly words: string;
  readonly onChange: (words: string) => void;
  readonly field?: RefObject<HTMLInputElement | null>;
};

/** Time after the last key at which the list is asked. */
const quietMs = 350;

export function SearchBox({ label, placeholder, words, onChange, field }: SearchBoxProps) {
  const [typed, setTyped] = useState(words);
  const [shown, setShown] = useState(words);
  // The address changed by itself, such as by the browser's back button or a saved view.
  if (shown !== words) {
    setShown(words);
    setTyped(words);
  }
  useEffect(() => {
    if (typed.trim() === words) return undefined;
    const timer = setTimeout(() => onChange(typed.trim()), quietMs);
    return () => clearTimeout(timer);
  }, [typed, words, onChange]);
  return (
    <form
      className="search-box"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed.trim());
      }}
    >
      <Input
        ref={field}
        type="search"
        icon={<Search aria-hidden />}
        aria-label={label}
        placeholder={placeholder}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          if (typed === "") event.currentTarget.blur();
          setTyped("");
        }}
      />
    </form>
  );
}
