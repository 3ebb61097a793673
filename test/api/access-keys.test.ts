// The access matrix of keys: see access-matrix.ts.

import { describeAccess } from "./access-matrix.ts";

describeAccess("keys");
