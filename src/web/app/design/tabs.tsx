// Tabs: views of one thing. The chosen tab belongs into the address, so the page holds it.

import { Tabs as Primitive } from "radix-ui";
import { type ReactNode, useEffect, useRef } from "react";
import "./tabs.css";

export type Tab = {
  readonly value: string;
  readonly label: ReactNode;
  /** Rendered while the tab is chosen. */
  readonly content: ReactNode;
};

export type TabsProps = {
  readonly label: string;
  /** False is none. */
  readonly tabs: readonly (Tab | false)[];
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Shown at the right of the tabs. */
  readonly actions?: ReactNode;
};

export function Tabs({ label, tabs: given, value, onChange, actions }: TabsProps) {
  const tabs = given.filter((tab) => tab !== false);
  const list = useRef<HTMLDivElement>(null);
  // In a narrow window the tabs scroll sideways, and an address may open one that is out of sight.
  useEffect(() => {
    list.current
      ?.querySelector('[data-state="active"]')
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [value]);
  return (
    <Primitive.Root className="tabs" value={value} onValueChange={onChange}>
      <div className="tabs-bar">
        <Primitive.List ref={list} aria-label={label}>
          {tabs.map((tab) => (
            <Primitive.Trigger key={tab.value} value={tab.value}>
              {tab.label}
            </Primitive.Trigger>
          ))}
        </Primitive.List>
        {actions}
      </div>
      {tabs.map((tab) => (
        <Primitive.Content key={tab.value} value={tab.value}>
          {tab.content}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  );
}

export type SegmentsProps = {
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: ReactNode }[];
  readonly value: string;
  readonly onChange: (value: string) => void;
};

/** A few choices beside one another, of which one holds. */
export function Segments({ label, options, value, onChange }: SegmentsProps) {
  return (
    <div className="segments" role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            className="visually-hidden"
            name={label}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </div>
  );
}
