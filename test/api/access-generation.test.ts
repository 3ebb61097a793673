// The access matrix of generation: see access-matrix.ts.

import { describeAccess } from "./access-matrix.ts";

describeAccess("generation");
