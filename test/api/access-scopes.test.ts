// The access matrix of scopes: see access-matrix.ts.

import { describeAccess } from "./access-matrix.ts";

describeAccess("scopes");
