// Combobox: one of many values, found by typing; may take a value that is not in the list.

import { Command, defaultFilter } from "cmdk";
import { Check } from "lucide-react";
import { Popover as Primitive } from "radix-ui";
import { type ReactNode, useMemo, useState } from "react";
import { formatExactCount } from "./format.ts";
import "./command.css";
import "./combobox.css";

export type ComboboxOption = {
  readonly value: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly icon?: ReactNode;
  readonly group?: string;
};

export type ComboboxProps = {
  /** The control that opens the list: a Button. */
  readonly trigger: ReactNode;
  /** Read out as the name of the list. */
  readonly label: string;
  readonly placeholder?: string;
  readonly options: readonly ComboboxOption[];
  readonly value?: string | undefined;
  readonly onChange: (value: string) => void;
  /** Offers what was typed as a value of its own. */
  readonly isOpenEnded?: boolean;
  readonly emptyText?: string;
  readonly isOpen?: boolean;
  readonly onOpenChange?: (isOpen: boolean) => void;
};

export function Combobox(props: ComboboxProps) {
  const { trigger, label, onChange, onOpenChange } = props;
  const [isOpenInside, setOpenInside] = useState(false);
  const isOpen = props.isOpen ?? isOpenInside;
  const setOpen = (next: boolean): void => {
    setOpenInside(next);
    onOpenChange?.(next);
  };
  return (
    <Primitive.Root open={isOpen} onOpenChange={setOpen}>
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          className="popover combobox"
          align="start"
          sideOffset={5}
          collisionPadding={8}
          aria-label={label}
        >
          <ComboboxList
            {...props}
            onChange={(value) => {
              setOpen(false);
              onChange(value);
            }}
          />
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

/** The list alone, for a panel that is open already. */
export function ComboboxList(props: Omit<ComboboxProps, "trigger">) {
  const { label, placeholder = "Search…", options, value, onChange } = props;
  const { isOpenEnded = false, emptyText = "Nothing has these words." } = props;
  const [typed, setTyped] = useState("");
  const { shown, rest } = useMemo(() => bestOf(options, typed), [options, typed]);
  const groups = Map.groupBy(shown, ({ group }) => group ?? "");
  const isOwn = isOpenEnded && typed.trim() !== "" && !options.some((one) => one.value === typed);
  return (
    <Command label={label} loop>
      <Command.Input placeholder={placeholder} value={typed} onValueChange={setTyped} />
      <Command.List>
        {isOwn ? null : <Command.Empty>{emptyText}</Command.Empty>}
        {isOwn ? (
          <Command.Item value={typed} onSelect={() => onChange(typed.trim())} forceMount>
            Use “<span className="truncate">{typed.trim()}</span>”
          </Command.Item>
        ) : null}
        {[...groups].map(([group, members]) => (
          <Command.Group key={group} {...(group !== "" && { heading: group })}>
            {members.map((option) => (
              <Command.Item
                key={option.value}
                value={wordsOf(option)}
                onSelect={() => onChange(option.value)}
              >
                {option.icon}
                <span className="truncate">{option.label}</span>
                <span className="combobox-hint">{option.hint}</span>
                {option.value === value ? <Check aria-label="chosen" /> : null}
              </Command.Item>
            ))}
          </Command.Group>
        ))}
      </Command.List>
      {rest > 0 ? (
        <p className="combobox-rest" role="status">
          {`${formatExactCount(rest)} more: type to find them`}
        </p>
      ) : null}
    </Command>
  );
}

/** Options that are drawn at once; a browser stands still for seconds while it draws thousands. */
const shownMax = 100;

function wordsOf({ label, value }: ComboboxOption): string {
  return `${label} ${value}`;
}

/** Returns the options that fit best what was typed, and the number of the others that fit. */
function bestOf(options: readonly ComboboxOption[], typed: string) {
  if (options.length <= shownMax) return { shown: options, rest: 0 };
  const fitting =
    typed.trim() === ""
      ? options
      : options
          .map((option) => ({ option, score: defaultFilter(wordsOf(option), typed) }))
          .filter(({ score }) => score > 0)
          .toSorted((one, other) => other.score - one.score)
          .map(({ option }) => option);
  return { shown: fitting.slice(0, shownMax), rest: Math.max(0, fitting.length - shownMax) };
}
