// The access matrix of datasets: see access-matrix.ts.

import { describeAccess } from "./access-matrix.ts";

describeAccess("datasets");
