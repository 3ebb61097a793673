// The access matrix of tracing: see access-matrix.ts.

import { describeAccess } from "./access-matrix.ts";

describeAccess("tracing");
