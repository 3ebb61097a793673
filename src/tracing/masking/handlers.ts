// MaskingService: a message in, a message out, no decisions.

import { fromJson, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { timestampFromDate, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { MaskingSchema, MaskingService } from "../../../gen/waggle/v1/masking_pb.js";
import { actorOf, projectOf } from "../../access/call.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Masking, MaskingRow } from "./masking.ts";

export function maskingHandlers(masking: Masking): ServiceImpl<typeof MaskingService> {
  return {
    getMasking: async (_request, context) => toAnswer(await masking.get(projectOf(context))),

    async putMasking({ rules }, context) {
      return toAnswer(await masking.put(projectOf(context), rules, actorOf(context)));
    },

    async deleteMasking(_request, context) {
      await masking.delete(projectOf(context), actorOf(context));
      return toAnswer(undefined);
    },

    async previewMasking({ rules, sample }, context) {
      const value = sample && (toJson(ValueSchema, sample) as JsonValue);
      const masked = await masking.preview(projectOf(context), rules, value);
      const { sample: json, replaced } = masked;
      const answer = fromJson(ValueSchema, json as Parameters<typeof fromJson>[1]);
      return { success: true, data: { sample: answer, replaced } };
    },
  };
}

function toAnswer(row: MaskingRow | undefined) {
  return { success: true, data: toMessage(row) };
}

function toMessage(row: MaskingRow | undefined): MessageInitShape<typeof MaskingSchema> {
  if (!row) return {};
  return { rules: [...row.rules], updatedAt: timestampFromDate(row.updatedAt) };
}
