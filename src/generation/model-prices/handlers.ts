// ModelPriceService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  ModelPriceSchema,
  ModelPriceService,
  PutModelPriceRequest,
} from "../../../gen/waggle/v1/model_price_pb.js";
import { actorOf, scopeOf } from "../../access/call.ts";
import { toPageAnswer } from "../../base/pages.ts";
import { rateNames, type Rates } from "../prices/own-prices.ts";
import type { ModelPrice, ModelPrices } from "./model-prices.ts";

export function modelPriceHandlers(prices: ModelPrices): ServiceImpl<typeof ModelPriceService> {
  return {
    async putModelPrice(request, context) {
      const caller = { scope: scopeOf(context), actor: actorOf(context) };
      const { name } = request;
      const price = await prices.put({ ...caller, name, rates: toRates(request) });
      return { success: true, data: toMessage(price) };
    },
    async listModelPrices(request, context) {
      const page = await prices.list(scopeOf(context), request);
      return toPageAnswer(page, toMessage);
    },
    async deleteModelPrice({ name }, context) {
      const price = await prices.delete(scopeOf(context), name, actorOf(context));
      return { success: true, data: toMessage(price) };
    },
  };
}

/** Fields of messages by the names of prices. */
const fieldOf = {
  input_mtok: "inputMtok",
  output_mtok: "outputMtok",
  cache_read_mtok: "cacheReadMtok",
  cache_write_mtok: "cacheWriteMtok",
  input_audio_mtok: "inputAudioMtok",
  output_audio_mtok: "outputAudioMtok",
} as const satisfies Record<keyof Rates, keyof PutModelPriceRequest>;

function toRates(request: PutModelPriceRequest): Rates {
  const rates = rateNames.map((name) => [name, request[fieldOf[name]]] as const);
  return Object.fromEntries(rates.filter(([, dollars]) => dollars !== undefined));
}

function toMessage(price: ModelPrice): MessageInitShape<typeof ModelPriceSchema> {
  const rates = rateNames.map((name) => [fieldOf[name], price.rates[name]] as const);
  return {
    name: price.name,
    ...Object.fromEntries(rates),
    scopeType: price.level,
    scopeId: price.scopeId,
    updatedAt: timestampFromDate(price.updatedAt),
    updatedBy: price.updatedBy,
  };
}
