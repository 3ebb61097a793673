// Answers of charts as pages read them.

import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ChartResultSchema } from "../../../gen/waggle/v1/chart_pb.js";
import { toAnswer } from "../../../src/web/app/pages/charts/answer.ts";

test.each([true, false])(
  "a last bucket that reads `other` is that of the others if the answer says so (%s)",
  (hasOtherBucket) => {
    const buckets = ["a", "other"].map((text) => fromJson(ValueSchema, text));
    const data = { buckets, hasOtherBucket };
    const meta = { splitCount: hasOtherBucket ? 3 : 2 };

    const answer = toAnswer(create(ChartResultSchema, { kind: "table", data, meta }), true);

    expect(answer.buckets).toMatchObject([{ isOther: false }, { isOther: hasOtherBucket }]);
  },
);
