// The access matrix of metrics: see access-matrix.ts.

import { describeAccess } from "./access-matrix.ts";

describeAccess("metrics");
