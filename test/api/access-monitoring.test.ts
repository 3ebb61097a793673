// The access matrix of monitoring: see access-matrix.ts.

import { describeAccess } from "./access-matrix.ts";

describeAccess("monitoring");
