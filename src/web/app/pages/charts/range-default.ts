// The range of charts where the address names none.

import type { TimeRange } from "../../design/time-range.ts";

export const chartsRangeDefault: TimeRange = { last: 7 * 24 * 60 };
