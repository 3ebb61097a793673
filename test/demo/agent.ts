// The demo's program: a small weather agent on the official OpenAI client, as its author would
// write it. It keeps its own notes of each step, which rest-run.ts logs; OpenTelemetry sees the
// rest.

import { setTimeout as delay } from "node:timers/promises";
import type { Span, Tracer } from "@opentelemetry/api";
import type { OpenAI } from "openai";

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];

/** One step as the agent's author would note it down; times in Unix milliseconds. */
export type Step = {
  readonly name: string;
  readonly type: "model" | "tool";
  readonly startMs: number;
  readonly endMs: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly usage?: OpenAI.CompletionUsage;
  readonly error?: string;
};

export type Run = {
  readonly question: string;
  readonly answer: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly steps: readonly Step[];
};

export const agentName = "weather-agent";
const model = "gpt-4o-mini";
/** The stand-in answers 429 to this one. */
const busyModel = "fail-429";

const weatherTool: OpenAI.Chat.ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    },
  },
};

/** Answers a question: model with tools, tool, model, a model that fails, streamed answer. */
export async function runAgent(openai: OpenAI, tracer: Tracer, question: string): Promise<Run> {
  const attributes = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agentName };
  return tracer.startActiveSpan(agentName, { attributes }, async (span) => {
    try {
      return await answer(openai, tracer, question);
    } finally {
      span.end();
    }
  });
}

async function answer(openai: OpenAI, tracer: Tracer, question: string): Promise<Run> {
  const startMs = Date.now();
  const steps: Step[] = [];
  const messages: Messages = [
    { role: "system", content: "You answer in one sentence." },
    { role: "user", content: question },
  ];

  const first = await callModel(openai, messages, steps, [weatherTool]);
  const [call] = first.tool_calls ?? [];
  if (call?.type !== "function") throw new Error("the model called no tool");
  const result = await callTool(tracer, call, steps);
  messages.push(first, { role: "tool", tool_call_id: call.id, content: JSON.stringify(result) });

  messages.push(await callModel(openai, messages, steps));
  messages.push({ role: "user", content: "And in one line for a text message?" });
  await callBusyModel(openai, messages, steps);
  const text = await streamModel(openai, messages, steps);
  return { question, answer: text, startMs, endMs: Date.now(), steps };
}

async function callModel(
  openai: OpenAI,
  messages: Messages,
  steps: Step[],
  tools?: OpenAI.Chat.ChatCompletionTool[],
): Promise<OpenAI.Chat.ChatCompletionMessage> {
  const startMs = Date.now();
  const inputs = { chat_history: [...messages] };
  const reply = await openai.chat.completions.create({
    model,
    messages,
    temperature: 0.2,
    ...(tools && { tools }),
  });
  const [choice] = reply.choices;
  if (!choice) throw new Error("the model gave no choice");
  steps.push({
    name: `chat ${model}`,
    type: "model",
    startMs,
    endMs: Date.now(),
    inputs,
    outputs: { ...choice.message },
    ...(reply.usage && { usage: reply.usage }),
  });
  return choice.message;
}

async function callTool(
  tracer: Tracer,
  call: OpenAI.Chat.ChatCompletionMessageFunctionToolCall,
  steps: Step[],
): Promise<Readonly<Record<string, unknown>>> {
  const { name, arguments: given } = call.function;
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.id": call.id,
    "gen_ai.tool.call.arguments": given,
  };
  return tracer.startActiveSpan(`execute_tool ${name}`, { attributes }, async (span: Span) => {
    const startMs = Date.now();
    const inputs = JSON.parse(given) as Readonly<Record<string, unknown>>;
    // A real tool takes a while.
    await delay(25);
    const outputs = { ...inputs, celsius: 18, sky: "sunny" };
    span.setAttribute("gen_ai.tool.call.result", JSON.stringify(outputs));
    span.end();
    const endMs = Date.now();
    steps.push({ name: `execute_tool ${name}`, type: "tool", startMs, endMs, inputs, outputs });
    return outputs;
  });
}

/** Tries a model that is over its quota; the agent goes on with another. */
async function callBusyModel(openai: OpenAI, messages: Messages, steps: Step[]): Promise<void> {
  const startMs = Date.now();
  try {
    await openai.chat.completions.create({ model: busyModel, messages });
  } catch (error) {
    steps.push({
      name: `chat ${busyModel}`,
      type: "model",
      startMs,
      endMs: Date.now(),
      inputs: { chat_history: [...messages] },
      outputs: {},
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

async function streamModel(openai: OpenAI, messages: Messages, steps: Step[]): Promise<string> {
  const startMs = Date.now();
  const stream = await openai.chat.completions.create({
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let usage: OpenAI.CompletionUsage | undefined;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage ?? usage;
  }
  steps.push({
    name: `chat ${model}`,
    type: "model",
    startMs,
    endMs: Date.now(),
    inputs: { chat_history: [...messages] },
    outputs: { role: "assistant", content: text },
    ...(usage && { usage }),
  });
  return text;
}
