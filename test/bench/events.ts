// Events for the benches: like an agent's, of a given size, the same in every run.

const words = (
  "the model answered that a customer order was shipped to another warehouse because of late " +
  "payment and we should refund it after checking invoice number status with support before " +
  "Friday when delivery retry policy expires unless user account has premium plan or credit"
).split(" ");

/** Returns a generator of pseudo-random integers, the same for the same seed (mulberry32). */
export function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = ReturnType<typeof createRandom>;

/** Returns about `length` characters of words. */
export function textOf(random: Random, length: number): string {
  const chosen: string[] = [];
  for (let size = 0; size < length; size += (chosen.at(-1)?.length ?? 0) + 1) {
    chosen.push(words[random(words.length)] ?? "");
  }
  return chosen.join(" ").slice(0, Math.max(0, length));
}

const models = ["gpt-4o", "gpt-4o-mini", "claude-sonnet", "llama-3-70b"];
const tools = ["search_orders", "refund", "lookup_customer", "send_mail"];

const tokensMax = 4_000;

/** Returns one step of an agent: kind, name and payload. Every second step is a model call. */
export function payloadOf(random: Random, index: number, bytes: number) {
  const isModel = index % 2 === 0;
  const model = models[random(models.length)] ?? "";
  const prompt = random(tokensMax);
  const completion = random(1_000);
  const name = isModel ? `chat ${model}` : (tools[random(tools.length)] ?? "");
  const length = Math.max(0, bytes - 800);
  return {
    event_type: isModel ? "model" : index % 4 === 1 ? "tool" : "chain",
    event_name: name,
    config: isModel
      ? { model, provider: "openai", temperature: 0.2, max_tokens: 1_000 }
      : { version: "v3", timeout_ms: 5_000 },
    inputs: {
      chat_history: [
        { role: "system", content: textOf(random, length * 0.3) },
        { role: "user", content: textOf(random, length * 0.4) },
      ],
    },
    outputs: { role: "assistant", content: textOf(random, length * 0.3), finish_reason: "stop" },
    metadata: {
      model,
      customer: `customer-${random(50_000)}`,
      region: ["eu", "us", "ap"][random(3)] ?? "",
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      cost: (prompt * 3 + completion * 15) / 1_000_000,
      release: `2026.${random(12)}`,
    },
    user_properties: { user_id: `user-${random(10_000)}`, plan: "premium" },
  };
}
