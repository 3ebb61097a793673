// The long session of `bench web`: an agent that works through tasks, each a chain with models and
// tools below it.

export type Target = { readonly url: string; readonly key: string };

type Fields = Readonly<Record<string, unknown>>;

const batchEvents = 1_000;
/** A chain with its steps. */
const taskEvents = 10;
const sessionId = "long-session";

/** Makes the events of a session one by one, the session's own first. */
export function* longSession(events: number): Generator<Fields> {
  const startMs = Date.now() - 3_600_000;
  const stepMs = 3_000_000 / events;
  const common = { session_id: sessionId, source: "bench" };
  yield {
    ...common,
    event_id: sessionId,
    event_type: "session",
    event_name: sessionId,
    inputs: { question: "Work through all tasks." },
    start_time: startMs,
    end_time: startMs + 3_000_000,
  };
  for (let index = 0; index < events; index += 1) {
    const task = index - (index % taskEvents);
    const isChain = index === task;
    const start = startMs + index * stepMs;
    yield {
      ...common,
      event_id: `${sessionId}-${index}`,
      ...(!isChain && { parent_id: `${sessionId}-${task}` }),
      ...(isChain ? chain(task) : index % 3 === 0 ? model(index) : tool(index)),
      start_time: start,
      end_time: start + stepMs * (isChain ? taskEvents : 0.9),
    };
  }
}

function chain(task: number): Fields {
  return { event_type: "chain", event_name: `task ${task}`, inputs: { task } };
}

function model(index: number): Fields {
  const prompt = 300 + (index % 900);
  return {
    event_type: "model",
    event_name: "decide",
    config: { model: "gpt-5-mini", provider: "openai" },
    inputs: { messages: [{ role: "user", content: `Step ${index}. ${"What next? ".repeat(20)}` }] },
    outputs: { role: "assistant", content: "The next tool." },
    metadata: { prompt_tokens: prompt, completion_tokens: 40, total_tokens: prompt + 40 },
  };
}

function tool(index: number): Fields {
  return {
    event_type: "tool",
    event_name: ["search_orders", "fetch_invoice", "send_email"][index % 3],
    inputs: { query: `order ${index}`, limit: 5 },
    outputs: { rows: [{ id: index, state: "shipped" }] },
    ...(index % 400 === 7 && { error: "ToolError: the tool answered 503" }),
  };
}

/** Sends events in batches; resolves when the service has stored them. */
export async function sendEvents({ url, key }: Target, events: Iterable<Fields>): Promise<void> {
  let batch: Fields[] = [];
  for (const event of events) {
    batch.push(event);
    if (batch.length < batchEvents) continue;
    await sendBatch({ url, key }, batch);
    batch = [];
  }
  if (batch.length > 0) await sendBatch({ url, key }, batch);
}

async function sendBatch({ url, key }: Target, events: readonly Fields[]): Promise<void> {
  const response = await fetch(`${url}/events/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ events }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
}
