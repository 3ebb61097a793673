// Choices for a metric, by their number keys. Pure.

import type { JsonValue } from "@bufbuild/protobuf";
import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { toNumber } from "../../design/format.ts";

export type Choice = { readonly label: string; readonly value: JsonValue };

const scaleDefault = 5;
/** Number keys that there are. */
const choicesMax = 9;

/** Returns the choices of a metric; none where the score is typed. */
export function choicesOf({ returnType, categories, scale }: Metric): readonly Choice[] {
  switch (returnType) {
    case "boolean":
      return [
        { label: "Yes", value: true },
        { label: "No", value: false },
      ];
    case "categorical":
      return categories.map(({ category }) => ({ label: category, value: category }));
    case "float": {
      const greatest = scale ?? scaleDefault;
      if (greatest > choicesMax) return [];
      return Array.from({ length: greatest }, (_, index) => ({
        label: String(index + 1),
        value: index + 1,
      }));
    }
    default:
      return [];
  }
}

/** Returns the score that was typed; undefined where it is none. */
export function parseScore({ returnType }: Metric, text: string): JsonValue | undefined {
  return returnType === "float" ? toNumber(text) : text.trim() || undefined;
}
