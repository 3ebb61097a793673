// A session as an agent makes it: nested steps, chats with tools, an image, a sound, errors and
// costs.

import { crc32, deflateSync } from "node:zlib";

export type TraceOptions = {
  readonly sessionId: string;
  readonly startMs: number;
  /** Answer of the last call. */
  readonly answer?: string;
  /** A tool that is called once more, before the last call. */
  readonly extraTool?: string;
};

type Fields = Readonly<Record<string, unknown>>;

export const question = "My order 4711 came broken. Here is a photo. Can I have my money back?";
export const imageSide = 96;

const system = "You help customers of a shop. Be brief, and never promise what a tool did not do.";

/** Returns the events of the session; ids of steps are `<session id>-<step>`. */
export function agentTrace(options: TraceOptions): readonly Fields[] {
  const { sessionId, startMs, answer = "I have asked the bank again.", extraTool } = options;
  const step = (id: string, fields: Fields, [fromMs, toMs]: readonly [number, number]) => ({
    event_id: `${sessionId}-${id}`,
    session_id: sessionId,
    source: "production",
    inputs: {},
    ...fields,
    ...(typeof fields["parent_id"] === "string" && {
      parent_id: `${sessionId}-${fields["parent_id"]}`,
    }),
    start_time: startMs + fromMs,
    end_time: startMs + toMs,
  });
  return [
    {
      ...step("root", { event_type: "session", event_name: "refund-agent" }, [0, 9_000]),
      event_id: sessionId,
      inputs: { question },
      outputs: { answer },
      user_properties: { plan: "pro", user_id: "ada" },
    },
    ...planSteps(step),
    ...photoSteps(step),
    ...refundSteps(step),
    ...(extraTool === undefined
      ? []
      : [step("extra", { event_type: "tool", event_name: extraTool }, [7_600, 7_800])]),
    step("answer", { event_name: "answer", ...lastCall(answer) }, [8_000, 9_000]),
  ];
}

type Step = (id: string, fields: Fields, span: readonly [number, number]) => Fields;

const findCall = {
  role: "assistant",
  content: null,
  tool_calls: [
    {
      id: "call_find",
      type: "function",
      function: { name: "find_order", arguments: '{"order": 4711}' },
    },
  ],
};
const order = { id: 4711, state: "delivered", lines: [{ item: "lamp", price: 49.5 }] };
const findResult = { role: "tool", tool_call_id: "call_find", content: JSON.stringify(order) };

function planSteps(step: Step): readonly Fields[] {
  return [
    step("plan", { event_type: "chain", event_name: "plan" }, [0, 2_400]),
    step(
      "decide",
      {
        parent_id: "plan",
        event_type: "model",
        event_name: "decide",
        config: { model: "gpt-5-mini", provider: "openai", temperature: 0.2 },
        inputs: { messages: [{ role: "system", content: system }, user(question)] },
        outputs: findCall,
        metadata: usage(420, 38, 0.0004),
      },
      [100, 1_400],
    ),
    step(
      "find",
      {
        parent_id: "plan",
        event_type: "tool",
        event_name: "find_order",
        inputs: { order: 4711 },
        outputs: { order },
      },
      [1_500, 2_300],
    ),
  ];
}

function photoSteps(step: Step): readonly Fields[] {
  const parts = [
    { type: "text", text: `What is broken?\n${"Look at every part of the lamp.\n".repeat(60)}` },
    { type: "image_url", image_url: { url: pngUrl(imageSide) } },
    { type: "input_audio", input_audio: { data: wavData(), format: "wav" } },
  ];
  return [
    step("look", { event_type: "chain", event_name: "look at the photo" }, [2_500, 5_000]),
    step(
      "describe",
      {
        parent_id: "look",
        event_type: "model",
        event_name: "describe photo",
        config: { model: "claude-sonnet-5", provider: "anthropic" },
        inputs: { messages: [{ role: "user", content: parts }] },
        outputs: { role: "assistant", content: "The foot of the lamp is broken off." },
        metadata: usage(1_900, 60, 0.0061),
        metrics: { helpfulness: 0.75 },
      },
      [2_600, 4_900],
    ),
    step(
      "resize",
      {
        parent_id: "look",
        event_type: "tool",
        event_name: "resize_photo",
        inputs: { photo: pngUrl(imageSide), width: imageSide },
        outputs: { photo: pngUrl(imageSide) },
      },
      [2_550, 3_100],
    ),
  ];
}

function refundSteps(step: Step): readonly Fields[] {
  const tool = { event_type: "tool", event_name: "issue_refund", inputs: { order: 4711 } };
  return [
    step("refund", { event_type: "chain", event_name: "refund" }, [5_100, 7_500]),
    step(
      "try",
      { ...tool, parent_id: "refund", error: "PaymentError: the bank answered 503" },
      [5_100, 6_000],
    ),
    step(
      "again",
      { parent_id: "refund", event_type: "chain", event_name: "retry" },
      [6_100, 7_400],
    ),
    step(
      "try2",
      { ...tool, parent_id: "again", error: "PaymentError: the bank answered 503 again" },
      [6_200, 7_300],
    ),
  ];
}

function lastCall(answer: string): Fields {
  return {
    event_type: "model",
    config: { model: "gpt-5-mini", provider: "openai" },
    inputs: {
      messages: [{ role: "system", content: system }, user(question), findCall, findResult],
    },
    outputs: { role: "assistant", content: answer },
    metadata: usage(980, 44, 0.0011),
  };
}

const user = (content: string) => ({ role: "user", content });

function usage(prompt: number, completion: number, cost: number): Fields {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cost,
  };
}

/** Returns a picture of one colour as a data URL. Source: Portable Network Graphics, RFC 2083. */
function pngUrl(side: number): string {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  // Eight bits a channel, red, green and blue.
  head.set([8, 2, 0, 0, 0], 8);
  const line = Buffer.from([0, ...Array.from({ length: side }, () => [96, 64, 200]).flat()]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: side }, () => line)));
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const chunks = [chunk("IHDR", head), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))];
  return `data:image/png;base64,${Buffer.concat([signature, ...chunks]).toString("base64")}`;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Returns half a second of silence: eight-bit mono at 8,000 samples a second, as base64. */
function wavData(): string {
  const [rate, samples] = [8_000, 4_000];
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]).toString("base64");
}
