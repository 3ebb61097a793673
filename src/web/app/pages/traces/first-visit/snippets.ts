// Programs that send a first trace: the address is in them, and the key once there is one. Pure.

export type Snippet = {
  readonly id: "curl" | "python" | "typescript" | "openai";
  readonly label: string;
  /** Command that installs the packages of the program. */
  readonly install?: string;
  /** Text of the program, which belongs into `file`. */
  readonly code: string;
  readonly file: string;
  /** Which kind of key the program needs. */
  readonly key: "ingestion" | "project";
  /** Something to know before it runs. */
  readonly note?: string;
};

export type SnippetValues = {
  /** Address of this service, such as `https://waggle.example.org`. */
  readonly origin: string;
  /** Values of keys by their kind, as far as there are any. */
  readonly keys: Partial<Record<Snippet["key"], string>>;
  /** Models that the project can use; undefined while they are not known. */
  readonly providers?: ProvidersKnown | undefined;
};

export type ProvidersKnown = {
  /** Ids of models, such as `openai/gpt-5-mini`. */
  readonly models: readonly string[];
  /** True if no provider is set up. */
  readonly hasNone: boolean;
};

/** Stands in a program in place of a key. */
export const keyPlaceholder = "YOUR_WAGGLE_KEY";

const question = "What do bees do when they find flowers?";
const answer = "They dance, so that the others find them too.";

/** Returns the programs, the shortest first. */
export function createSnippets({ origin, keys, providers }: SnippetValues): readonly Snippet[] {
  const sending = { origin, key: keys.ingestion ?? keyPlaceholder };
  const calling = { origin, key: keys.project ?? keyPlaceholder };
  return [curl(sending), python(sending), typescript(sending), openai(calling, providers)];
}

type Values = { readonly origin: string; readonly key: string };

function curl({ origin, key }: Values): Snippet {
  const body = {
    session: { session_name: "first-trace" },
    single_session: true,
    events: [
      {
        event_type: "model",
        event_name: "answer",
        source: "first-visit",
        config: { model: "gpt-5-mini", provider: "openai" },
        inputs: { chat_history: [{ role: "user", content: question }] },
        outputs: { role: "assistant", content: answer },
        metadata: { prompt_tokens: 18, completion_tokens: 11, total_tokens: 29 },
        duration: 840,
      },
    ],
  };
  return {
    id: "curl",
    label: "curl",
    file: "terminal",
    key: "ingestion",
    code: `curl -sS '${origin}/events/batch' \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body, null, 2)}'`,
  };
}

function python({ origin, key }: Values): Snippet {
  return {
    id: "python",
    label: "Python",
    file: "first_trace.py",
    key: "ingestion",
    install: "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http",
    code: `import json
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

exporter = OTLPSpanExporter(
    endpoint="${origin}/v1/traces",
    headers={"Authorization": "Bearer ${key}"},
)
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(exporter))
trace.set_tracer_provider(provider)

with trace.get_tracer("first-trace").start_as_current_span("answer") as span:
    span.set_attribute("gen_ai.operation.name", "chat")
    span.set_attribute("gen_ai.request.model", "gpt-5-mini")
    span.set_attribute("gen_ai.input.messages", json.dumps(
        [{"role": "user", "parts": [{"type": "text", "content": "${question}"}]}]))
    span.set_attribute("gen_ai.output.messages", json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "${answer}"}]}]))

provider.shutdown()  # sends what is left
`,
  };
}

const otelPackages = [
  "@opentelemetry/api",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/exporter-trace-otlp-proto",
];

function typescript({ origin, key }: Values): Snippet {
  return {
    id: "typescript",
    label: "TypeScript",
    file: "first-trace.mts",
    key: "ingestion",
    install: `npm install ${otelPackages.join(" ")}`,
    code: `import { trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

const exporter = new OTLPTraceExporter({
  url: "${origin}/v1/traces",
  headers: { Authorization: "Bearer ${key}" },
});
const provider = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter })],
});
trace.setGlobalTracerProvider(provider);

const text = (content: string) => [{ type: "text", content }];
const span = trace.getTracer("first-trace").startSpan("answer");
span.setAttributes({
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "gpt-5-mini",
  "gen_ai.input.messages": JSON.stringify(
    [{ role: "user", parts: text("${question}") }]),
  "gen_ai.output.messages": JSON.stringify(
    [{ role: "assistant", parts: text("${answer}") }]),
});
span.end();

await provider.shutdown(); // sends what is left
`,
  };
}

const usualModel = "openai/gpt-5-mini";

/** Returns a model that answers chats, as far as its name tells. */
function chatModelOf({ models, hasNone }: ProvidersKnown): string {
  const chats = models.filter((id) => !/embed|tts|whisper|image|audio|moderation/i.test(id));
  const known = chats.includes(usualModel) ? undefined : chats[0];
  return hasNone ? usualModel : (known ?? usualModel);
}

function noteOf(providers: ProvidersKnown | undefined): string {
  const through = "The call goes through this service to the provider of the model";
  return providers?.hasNone === true
    ? `Set up a provider first, under Settings, Providers. ${through}.`
    : `${through}, which is set up under Settings, Providers.`;
}

function openai({ origin, key }: Values, providers: ProvidersKnown | undefined): Snippet {
  return {
    id: "openai",
    label: "OpenAI client",
    file: "first_call.py",
    key: "project",
    install: "pip install openai",
    note: noteOf(providers),
    code: `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")

completion = client.chat.completions.create(
    model="${providers ? chatModelOf(providers) : usualModel}",
    messages=[{"role": "user", "content": "${question}"}],
    extra_headers={"x-waggle-name": "answer"},
)
print(completion.choices[0].message.content)
`,
  };
}
