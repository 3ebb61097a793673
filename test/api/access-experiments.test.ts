// The access matrix of experiments: see access-matrix.ts.

import { describeAccess } from "./access-matrix.ts";

describeAccess("experiments");
