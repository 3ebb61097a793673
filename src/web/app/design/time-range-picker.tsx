// TimeRangePicker: the last minutes up to 30 days, or two times that one types; says in which zone.

import { Calendar } from "lucide-react";
import { useState } from "react";
import { serviceNow } from "../api/clock.ts";
import { Button } from "./button.tsx";
import { TextField } from "./fields.tsx";
import { Popover } from "./popover.tsx";
import {
  boundsOf,
  formatRange,
  lastChoices,
  parseTimeRange,
  type TimeRange,
  zoneName,
} from "./time-range.ts";
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
  const [bounds] = useState(() => ({ to: serviceNow(), ...boundsOf(value, serviceNow()) }));
  const [from, setFrom] = useState(toLocal(bounds.from));
  const [to, setTo] = useState(toLocal(bounds.to));
  const [fromMs, toMs] = [toTime(from, bounds.from), toTime(to, bounds.to)];
  const range = parseTimeRange({ from: fromMs, to: toMs });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (range) onChange(range);
      }}
    >
      <TextField label="From" type="datetime-local" step={1} value={from} onChange={setFrom} />
      <TextField
        label="To"
        error={range ? undefined : faultOf(fromMs, toMs)}
        type="datetime-local"
        step={1}
        value={to}
        onChange={setTo}
      />
      <Button type="submit" size="small" disabled={!range}>
        Apply
      </Button>
      <p>Times are in {zoneName}.</p>
    </form>
  );
}

/** Returns a time as the browser's field for local times takes it. */
function toLocal(timeMs: number): string {
  const shifted = new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

/**
 * Returns the time of the field. Unchanged text stands for the exact time that it shows, whose
 * milliseconds it leaves out, as it does which of the two hours at the end of summer time it is.
 */
function toTime(text: string, firstMs: number): number {
  return text === toLocal(firstMs) ? firstMs : Date.parse(text);
}

function faultOf(fromMs: number, toMs: number): string {
  return fromMs >= toMs ? "The end must be after the start." : "Times are from 1970 to 9999.";
}
