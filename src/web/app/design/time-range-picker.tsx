// TimeRangePicker: the last minutes up to 30 days, or two times that one types; says in which zone.

import { Calendar } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";
import { Field, Input } from "./input.tsx";
import { Popover } from "./popover.tsx";
import { boundsOf, formatRange, lastChoices, type TimeRange, zoneName } from "./time-range.ts";
import "./time-range-picker.css";

export type TimeRangePickerProps = {
  readonly value: TimeRange;
  readonly onChange: (range: TimeRange) => void;
};

export type TimeRangePickerButtonProps = TimeRangePickerProps & {
  /** Opened from outside, such as by a key. */
  readonly isOpen?: boolean;
  readonly onOpenChange?: (isOpen: boolean) => void;
};

export function TimeRangePicker(props: TimeRangePickerButtonProps) {
  const { value, onChange, onOpenChange } = props;
  const [isOpenInside, setOpenInside] = useState(false);
  const isOpen = props.isOpen ?? isOpenInside;
  const setOpen = (next: boolean): void => {
    setOpenInside(next);
    onOpenChange?.(next);
  };
  const choose = (range: TimeRange): void => {
    setOpen(false);
    onChange(range);
  };
  return (
    <Popover
      label="Time range"
      align="end"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button size="small" icon={<Calendar />}>
          {formatRange(value)}
        </Button>
      }
    >
      <div className="time-range">
        <ul>
          {lastChoices.map(({ minutes, label }) => (
            <li key={minutes}>
              <button
                type="button"
                aria-pressed={"last" in value && value.last === minutes}
                onClick={() => choose({ last: minutes })}
              >
                {label}
              </button>
            </li>
          ))}
        </ul>
        <CustomRange key={String(isOpen)} value={value} onChange={choose} />
      </div>
    </Popover>
  );
}

function CustomRange({ value, onChange }: TimeRangePickerProps) {
  const nowMs = Date.now();
  const bounds = boundsOf(value, nowMs);
  const [from, setFrom] = useState(toLocal(bounds.from));
  const [to, setTo] = useState(toLocal(bounds.to ?? nowMs));
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const isValid = fromMs < toMs;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onChange({ from: fromMs, to: toMs });
      }}
    >
      <Field label="From">
        {({ isInvalid, ...ids }) => (
          <Input
            {...ids}
            isInvalid={isInvalid}
            type="datetime-local"
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        )}
      </Field>
      <Field label="To" error={isValid ? undefined : "The end must be after the start."}>
        {({ isInvalid, ...ids }) => (
          <Input
            {...ids}
            isInvalid={isInvalid}
            type="datetime-local"
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" size="small" disabled={!isValid}>
        Apply
      </Button>
      <p>Times are in {zoneName}.</p>
    </form>
  );
}

/** Returns a time as the browser's field for local times takes it. */
function toLocal(timeMs: number): string {
  const shifted = new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
