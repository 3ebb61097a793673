// REST as a protocol beside Connect, gRPC and gRPC-Web: converts an HTTP request to the message of
// an RPC client, for the same gate, interceptors and implementation.
// Source: docs/decisions.md, 3, 9, 10, 36.1.

import { getOption, type Message } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import type { HttpBody } from "../../../gen/google/api/httpbody_pb.js";
import { rest } from "../../../gen/waggle/v1/options_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { decodeJson } from "../../base/decode/json.ts";
import { createPacer } from "../../base/pacer.ts";
import { runPaced } from "../../base/paced.ts";
import { bodyClassAt } from "../access-rules.ts";
import { dropBody } from "../body-parts.ts";
import {
  type CallContext,
  invokeStream,
  invokeUnary,
  type MethodImplSpec,
} from "../connect-adapter.ts";
import { itemFaultsKey, memoryOf, parsedBodyKey, pathProjectKey } from "../../access/call.ts";
import { encodeJson } from "../encode/json.ts";
import type { Reservation } from "../../base/byte-budget.ts";
import { type Exchange, headerOf, type NodeRequest, writeAnswer } from "../exchange.ts";
import { serviceErrorOf } from "../interceptors/errors.ts";
import { isWrite } from "../interceptors/idempotency.ts";
import { setRequestDigest } from "../request-digest.ts";
import { type CallBody, type CallOptions, servePlainCall } from "../plain-call.ts";
import { errorAnswer } from "./error-body.ts";
import { answersHttpBody, httpBodyEncoder, httpBodyField, withHttpBody } from "./http-body.ts";
import { jsonKeyOf } from "./field-names.ts";
import { bindingsOf, type RestBinding } from "./http-rule.ts";
import { providerErrorAnswer, providerForms } from "./provider-error.ts";
import { readItems } from "./json-reader.ts";
import { type WriteContext, writeInSteps } from "./json-writer.ts";
import { clientPackageHeader, takesTextScores, takesTextTimes } from "./published-clients.ts";
import { createRouteTrie, type PathVariable, type RouteMatch } from "./route-trie.ts";
import { isGone } from "../write.ts";
import { type StreamEncoder, writeStream } from "./stream.ts";

export type TranscoderOptions = CallOptions & {
  readonly specs: readonly MethodImplSpec[];
  readonly streamEncoders: readonly StreamEncoder[];
};

type Route = {
  readonly binding: RestBinding;
  readonly spec: MethodImplSpec;
  /** Method that answers bodies with `"stream": true` instead. */
  readonly twin: MethodImplSpec | undefined;
};

export type Transcoder = {
  /** Returns the route of a request; undefined if no route has its method and path. */
  find(exchange: Exchange): RouteMatch<Route> | undefined;
  /** Answers a request for which `find` returned a route; never throws. */
  serve(exchange: Exchange, match: RouteMatch<Route>, values: ContextValues): Promise<void>;
};

const protocol = "rest";

export function createTranscoder(options: TranscoderOptions): Transcoder {
  const trie = createRouteTrie<Route>();
  for (const spec of options.specs) {
    for (const binding of bindingsOf(spec.method)) {
      trie.add(binding.httpMethod, binding.template, {
        binding,
        spec,
        twin: twinOf(spec, options),
      });
    }
  }
  return {
    find: ({ httpMethod, path }) => trie.find(httpMethod, path),
    serve: (exchange, match, values) => serve(options, exchange, match, values),
  };
}

/**
 * Returns the streaming twin of a method. Throws if its service does not have the twin that it
 * names.
 */
function twinOf(
  { method }: MethodImplSpec,
  { specs }: TranscoderOptions,
): MethodImplSpec | undefined {
  const { streamTwin } = getOption(method, rest);
  if (streamTwin === "") return undefined;
  const twin = specs.find((one) => one.method === method.parent.method[localNameOf(streamTwin)]);
  if (!twin) throw new Error(`${method.name} has no twin ${streamTwin}`);
  return twin;
}

function localNameOf(rpc: string): string {
  return `${rpc.charAt(0).toLowerCase()}${rpc.slice(1)}`;
}

function serve(
  options: TranscoderOptions,
  exchange: Exchange,
  match: RouteMatch<Route>,
  values: ContextValues,
): Promise<void> {
  const { spec, binding } = match.target;
  let answerHeader = new Headers();
  return servePlainCall(options, exchange, {
    method: spec.method,
    protocol,
    values,
    answer: async (context, body) => {
      answerHeader = context.responseHeader;
      const request = await readRequest(exchange, match, values, body);
      await answer(options, exchange, match.target, context, request);
    },
    answerError: (error, memory) =>
      writeError(exchange, binding, error, { header: answerHeader, memory }),
  });
}

async function readRequest(
  exchange: Exchange,
  { target, variables: allVariables }: RouteMatch<Route>,
  values: ContextValues,
  body: CallBody,
): Promise<Message> {
  const { binding, spec, twin } = target;
  const variables = binding.namesProject ? takeProject(allVariables, values) : allVariables;
  const bytes = binding.body ? await body.read(bodyClassAt(spec.method, binding.path)) : noBytes;
  if (isWrite(spec.method)) {
    setRequestDigest(exchange, values, `${exchange.request.url ?? ""}\n`, bytes);
  }
  const field = httpBodyField(binding);
  if (field) {
    const contentType = headerOf(exchange.request, "content-type") ?? "";
    if (twin) values.set(parsedBodyKey, await decodeJson(bytes, body.memory));
    const { message } = binding.read({ variables, query: exchange.query, body: undefined });
    return withHttpBody(message, field, contentType, bytes);
  }
  const json = bytes.length > 0 ? await decodeJson(bytes, body.memory) : undefined;
  const read = binding.read({ variables, query: exchange.query, body: json });
  dropBody(bytes, body.memory);
  await readItems(read.lists, read.made, body.memory);
  values.set(itemFaultsKey, read.itemFaults);
  return read.message;
}

/** Sets the project that the path names; returns the variables of the message. */
function takeProject(
  variables: readonly PathVariable[],
  values: ContextValues,
): readonly PathVariable[] {
  const [project, ...others] = variables;
  values.set(pathProjectKey, project?.value);
  return others;
}

const noBytes = Buffer.alloc(0);

async function answer(
  { interceptors, streamEncoders }: TranscoderOptions,
  exchange: Exchange,
  { binding, spec: own, twin }: Route,
  context: CallContext,
  request: Message,
): Promise<void> {
  const spec = twin && isStreamAsked(request, context) ? twin : own;
  const writeContext = writeContextOf(binding, exchange.request, request);
  if (spec.kind === "server_streaming") {
    const form = providerForms[binding.form.errorForm];
    await writeStream(exchange, invokeStream(spec, context, request, interceptors), {
      output: spec.method.output,
      encoders: form ? [...streamEncoders, httpBodyEncoder(form)] : streamEncoders,
      writeContext,
      headers: context.responseHeader,
      onBroken: (error) => context.abort(error),
    });
    return;
  }
  const response = await invokeUnary(spec, context, request, interceptors);
  if (answersHttpBody(spec.method)) {
    const { contentType, data } = response as HttpBody;
    const headers = { ...Object.fromEntries(context.responseHeader), "content-type": contentType };
    await writeAnswer(exchange, { status: 200, headers, body: data }, memoryOf(context));
    return;
  }
  const memory = memoryOf(context);
  const steps = writeInSteps(spec.method.output, response, writeContext);
  const whole = await runPaced(steps, createPacer(memory.holder));
  const json = binding.answerField ? whole[jsonKeyOf(binding.answerField)] : whole;
  const body = await encodeJson(json, memory);
  const headers = { ...Object.fromEntries(context.responseHeader), "content-type": jsonType };
  await writeAnswer(exchange, { status: binding.successStatus, headers, body }, memory);
}

function isStreamAsked(request: Message, { values }: CallContext): boolean {
  const body = values.get(parsedBodyKey) ?? request;
  return isJsonObject(body) && body["stream"] === true;
}

const jsonType = "application/json";

function writeContextOf(
  { hasTextTimes, isNullFree, projection }: RestBinding,
  request: NodeRequest,
  message: Message,
): WriteContext {
  const values = message as unknown as Readonly<Record<string, readonly string[] | undefined>>;
  const fields = (projection && values[projection.localName]) ?? [];
  return {
    isNullFree,
    isNumericOnly: isNullFree || !takesTextScores(headerOf(request, clientPackageHeader)),
    isTextTimes: hasTextTimes && takesTextTimes(headerOf(request, "user-agent")),
    projections:
      fields.length === 0 ? undefined : new Set(fields.map((field) => field.split(".")[0] ?? "")),
  };
}

async function writeError(
  exchange: Exchange,
  { body: target, form: { errorForm } }: RestBinding,
  error: unknown,
  { header, memory }: { readonly header: Headers; readonly memory: Reservation | undefined },
): Promise<void> {
  if (isGone(exchange.response) || exchange.response.headersSent) return;
  const fault = inBody(serviceErrorOf(error), target);
  const form = providerForms[errorForm];
  const answer = form ? providerErrorAnswer(fault, form) : errorAnswer(fault);
  const { status, headers, body } = answer;
  const all = { ...Object.fromEntries(header), "content-type": jsonType, ...headers };
  await writeAnswer(exchange, { status, headers: all, body }, memory);
}

/** Returns the error with its path inside the body, where the body is one field of the message. */
function inBody(error: ServiceError, target: RestBinding["body"]): ServiceError {
  if (target === undefined || target === "message") return error;
  const prefix = `${target.name}.`;
  if (!error.message.startsWith(prefix)) return error;
  return new ServiceError(error.reason, error.message.slice(prefix.length), error);
}
