// The OpenAPI document of every REST route, made at start-up from the same descriptors as the
// routes. Source: OpenAPI 3.1.

import { type DescField, type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { ErrorForm, rest } from "../../../gen/waggle/v1/options_pb.js";
import * as fieldLimits from "../../base/field-limits.ts";
import * as requestLimits from "../../base/limits.ts";
import * as tenantLimits from "../../base/tenant-limits.ts";
import { accessRuleOf, bodyClassAt, type BodyLimits } from "../access-rules.ts";
import { jsonKeyOf } from "../rest/field-names.ts";
import { answersHttpBody, httpBodyField } from "../rest/http-body.ts";
import { bindingsOf, type RestBinding } from "../rest/http-rule.ts";
import { formatPathTemplate } from "../rest/path-template.ts";
import type { StreamEncoder } from "../rest/stream.ts";
import { fixedPaths, fixedSchemas } from "./fixed-paths.ts";
import {
  commentOf,
  type Components,
  fieldSchema,
  type Form,
  messageSchema,
  mustBeGiven,
  objectSchema,
  type Schema,
} from "./schemas.ts";

type Paths = Record<string, Record<string, Schema>>;

const jsonType = "application/json";

export type OpenApiOptions = {
  readonly version: string;
  readonly bodyLimits: BodyLimits;
  readonly bytesInFlightMax: number;
  readonly streamEncoders: readonly StreamEncoder[];
};

/** Returns the document of the methods with http rules, as JSON text. */
export function createOpenApiDocument(
  methods: readonly DescMethod[],
  options: OpenApiOptions,
): Uint8Array {
  const { version, bodyLimits, bytesInFlightMax } = options;
  const components: Components = new Map();
  const paths: Paths = {};
  for (const method of methods) {
    bindingsOf(method).forEach((binding, index) => {
      const path = formatPathTemplate({
        ...binding.template,
        segments: binding.template.segments.map((segment) =>
          segment.kind === "variable" ? { ...segment, segments: [{ kind: "any" }] } : segment,
        ),
      });
      const routes = (paths[path] ??= {});
      routes[binding.httpMethod.toLowerCase()] = operation(binding, index, components, options);
    });
  }
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Waggle",
      version,
      description:
        "Tracing and generation for LLM applications. The same calls answer as gRPC, gRPC-Web " +
        "and Connect. Every limit of `x-limits` holds for all of them; `x-body-bytes-max` is the " +
        "largest body of a call, after inflating.",
      // The limits have the names of docs/limits.md.
      "x-limits": {
        ...requestLimits,
        ...tenantLimits,
        ...fieldLimits,
        requestMemoryBytesMax: bytesInFlightMax * requestLimits.projectShare,
      },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: { ...paths, ...fixedPaths(bodyLimits) },
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        // Anthropic's clients send their key so, and every route takes it.
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
      responses: errorResponses,
      schemas: {
        ...Object.fromEntries(components),
        ...fixedSchemas,
        Error: errorSchema,
        OpenAiError: openAiErrorSchema,
        AnthropicError: anthropicErrorSchema,
        NotFound: notFoundSchema,
      },
    },
  };
  return Buffer.from(JSON.stringify(document));
}

function operation(
  binding: RestBinding,
  index: number,
  components: Components,
  { bodyLimits, streamEncoders }: OpenApiOptions,
): Schema {
  const { method, path, form, namesProject } = binding;
  const isDeprecated = form.deprecatedPaths.includes(path) && !namesProject;
  const description = commentOf(`${method.parent.typeName}.${method.name}`);
  const { keyKinds, permission } = accessRuleOf(method);
  const suffix = index === 0 ? "" : `_${index + 1}`;
  const body = requestBody(binding, components);
  const errors = errorNames[form.errorForm];
  return {
    operationId: `${method.parent.name}_${method.name}${suffix}`,
    tags: [method.parent.name],
    ...(isDeprecated ? { deprecated: true } : {}),
    ...(description === undefined
      ? {}
      : { summary: description.split(/(?<=\.)\s/)[0], description }),
    parameters: [...pathParameters(binding, components), ...queryParameters(binding, components)],
    ...(body ? { requestBody: body } : {}),
    responses: {
      [binding.successStatus]: answerOf(binding, components, streamEncoders),
      400: { $ref: `#/components/responses/${errors.badRequest}` },
      404: { $ref: "#/components/responses/NotFound" },
      default: { $ref: `#/components/responses/${errors.other}` },
    },
    ...(keyKinds === undefined ? { security: [] } : { "x-permission": permission }),
    ...(body ? { "x-body-bytes-max": bodyLimits[bodyClassAt(method, path)] } : {}),
  };
}

function requestForm({ isStrict }: RestBinding): Form {
  return { side: "request", isStrict };
}

function pathFieldNames({ template }: RestBinding): readonly string[] {
  return template.segments.flatMap((one) =>
    one.kind === "variable" ? [one.fieldPath[0] ?? ""] : [],
  );
}

const projectId = "project_id";

function pathParameters(binding: RestBinding, components: Components): readonly Schema[] {
  const names = pathFieldNames(binding);
  const inPath = { in: "path", required: true };
  const fields = binding.method.input.fields
    .filter(({ name }) => names.includes(name) && !(binding.namesProject && name === projectId))
    .map((field) => ({
      name: field.name,
      ...inPath,
      schema: fieldSchema(field, requestForm(binding), components),
    }));
  if (!binding.namesProject) return fields;
  return [{ name: projectId, ...inPath, schema: { type: "string" } }, ...fields];
}

/** Returns the fields that the path leaves unset: it decides which field of a oneof is set. */
function excludedFields(binding: RestBinding): readonly DescField[] {
  const { fields } = binding.method.input;
  const inPath = fields.filter(({ name }) => pathFieldNames(binding).includes(name));
  return inPath.flatMap((field) => field.oneof?.fields.filter((one) => one !== field) ?? []);
}

function queryParameters(binding: RestBinding, components: Components): readonly Schema[] {
  const { body, method } = binding;
  if (body === "message") return [];
  const inPath = pathFieldNames(binding);
  const excluded = excludedFields(binding);
  const form: Form = { side: "request", isStrict: false };
  return method.input.fields
    .filter(({ name }) => !inPath.includes(name) && name !== body?.name)
    .filter((field) => !excluded.includes(field))
    .map((field) => {
      const schema = fieldSchema(field, form, components);
      const isRequired = mustBeGiven(field);
      const parameter = {
        name: jsonKeyOf(field),
        in: "query",
        ...(isRequired && { required: true }),
      };
      // Fields of message type are JSON text in a query.
      return field.message
        ? { ...parameter, content: { [jsonType]: { schema } } }
        : { ...parameter, schema };
    });
}

function requestBody(binding: RestBinding, components: Components): Schema | undefined {
  const { body, method } = binding;
  if (body === undefined) return undefined;
  if (httpBodyField(binding)) {
    const { fileTypes } = getOption(method, rest);
    const files = Object.fromEntries(fileTypes.map((type) => [type, { schema: fileSchema(type) }]));
    const content = fileTypes.length > 0 ? files : { [jsonType]: { schema: anyJson } };
    return { required: true, content };
  }
  const form = requestForm(binding);
  const schema =
    body === "message"
      ? messageBody(binding, form, components)
      : fieldSchema(body, form, components);
  return { required: true, content: { [jsonType]: { schema } } };
}

/**
 * Returns the schema of a body that is the whole message. Fields of the path are optional in it,
 * even if required in the message; fields that the path leaves unset are not in it.
 */
function messageBody(binding: RestBinding, form: Form, components: Components): Schema {
  const { input } = binding.method;
  const names = pathFieldNames(binding);
  if (names.length === 0) return messageSchema(input, form, components);
  const { properties, required, ...rest } = objectSchema(input, form, components);
  const excluded = excludedFields(binding).map(jsonKeyOf);
  const shown = Object.entries(properties as Schema).filter(([key]) => !excluded.includes(key));
  const left = ((required ?? []) as readonly string[]).filter((one) => !names.includes(one));
  return {
    ...rest,
    properties: Object.fromEntries(shown),
    ...(left.length > 0 ? { required: left } : {}),
  };
}

function answerOf(
  binding: RestBinding,
  components: Components,
  streamEncoders: readonly StreamEncoder[],
): Schema {
  const { method, hasTextTimes, isNullFree } = binding;
  const isProjected = binding.projection !== undefined;
  const form = {
    side: "answer",
    isTextTimes: hasTextTimes,
    isNullFree,
    isProjected,
    isRecord: false,
  } as const;
  if (answersHttpBody(method)) return httpBodyAnswer(method);
  if (isTwin(method)) return { description: "Server-sent events", content: eventStream };
  if (method.methodKind === "server_streaming") {
    const files = streamEncoders
      .filter(({ output }) => output === method.output)
      .map(({ mediaType }) => [mediaType, { schema: fileSchema(mediaType) }]);
    return {
      description: "JSON Lines: one value a line",
      content: {
        "application/x-ndjson": {
          schema: lineSchema(method.output, { ...form, isRecord: true }, components),
        },
        ...Object.fromEntries(files),
      },
    };
  }
  const schema = binding.answerField
    ? fieldSchema(binding.answerField, form, components)
    : messageSchema(method.output, form, components);
  const streamed = binding.form.streamTwin === "" ? {} : eventStream;
  return { description: "Success", content: { [jsonType]: { schema }, ...streamed } };
}

/** Returns whether a method is the streaming twin of another method. */
function isTwin({ name, parent }: DescMethod): boolean {
  return parent.methods.some((method) => getOption(method, rest).streamTwin === name);
}

const anyJson: Schema = { type: "object" };
const eventStream: Schema = { "text/event-stream": { schema: { type: "string" } } };

/** Generators of clients read `format: binary` as bytes, also where they have a text. */
function fileSchema(mediaType: string): Schema {
  return mediaType.startsWith("text/") ? { type: "string" } : { type: "string", format: "binary" };
}

/** Returns the answer of a raw body: JSON of the provider's API, or its events. */
function httpBodyAnswer(method: DescMethod): Schema {
  const isStream = method.methodKind === "server_streaming";
  const { streamTwin } = getOption(method, rest);
  return {
    description: "The provider's answer",
    content: {
      ...(isStream ? {} : { [jsonType]: { schema: anyJson } }),
      ...(isStream || streamTwin !== "" ? eventStream : {}),
    },
  };
}

/**
 * Returns the schema of one line as rest/stream.ts writes it: a message that is only a oneof of
 * messages is written as the chosen message.
 */
function lineSchema(message: DescMessage, form: Form, components: Components): Schema {
  const [oneof] = message.oneofs;
  if (!oneof || message.members.length > 1) return messageSchema(message, form, components);
  const choices = oneof.fields.filter(
    (field): field is DescField & { message: DescMessage } => field.message !== undefined,
  );
  return { anyOf: choices.map((field) => messageSchema(field.message, form, components)) };
}

const errorSchema: Schema = {
  type: "object",
  properties: {
    success: { const: false },
    statusCode: { type: "integer" },
    errorCode: { type: "string" },
    message: { type: "string" },
    unrecorded_field: { type: "string", description: "Field of events without any value" },
    failure: { type: "string", description: "Of an evaluator that failed: the kind of failure" },
    traceback: { type: "string", description: "Of an evaluator that failed: lines of its code" },
    output: { type: "string", description: "Of an evaluator that failed: what it printed" },
    judge: { ...anyJson, description: "Of a judge that failed: model, tokens, cost and answer" },
    event_ids: { type: "array", items: { type: "string" }, description: "Of a batch: none" },
    errors: {
      type: "array",
      items: { type: "string" },
      description: "Of a batch of which nothing was stored: why, by event",
    },
  },
  required: ["success"],
};

/** Forms of rest/provider-error.ts; a provider's own answer has at least `error`. */
const openAiErrorSchema: Schema = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        message: { type: "string" },
        type: { type: ["string", "null"] },
        param: { type: ["string", "null"] },
        code: { type: ["string", "integer", "null"] },
      },
      required: ["message"],
    },
  },
  required: ["error"],
};

const anthropicErrorSchema: Schema = {
  ...openAiErrorSchema,
  properties: { type: { const: "error" }, ...(openAiErrorSchema["properties"] as Schema) },
};

/** Names of the error answers of a route, by the form of its errors. */
const errorNames = {
  [ErrorForm.UNSPECIFIED]: { badRequest: "BadRequest", other: "Error" },
  [ErrorForm.OPENAI]: { badRequest: "OpenAiBadRequest", other: "OpenAiError" },
  [ErrorForm.ANTHROPIC]: { badRequest: "AnthropicBadRequest", other: "AnthropicError" },
} satisfies Record<ErrorForm, object>;

/** A constant for each member, since generators of clients take no object as a constant. */
const notFoundSchema: Schema = {
  type: "object",
  properties: {
    success: { const: false },
    statusCode: { const: 404 },
    errorCode: { const: "NOT_FOUND" },
    message: { const: "Not found" },
  },
  required: ["success", "statusCode", "errorCode", "message"],
  additionalProperties: false,
};

const errorResponses = {
  BadRequest: errorResponse("What was wrong, with the field's name", "Error"),
  NotFound: errorResponse("Absent, or not for this key; always this one body", "NotFound"),
  Error: errorResponse("Any other failure; a 5xx has no message, a 503 has Retry-After", "Error"),
  OpenAiBadRequest: errorResponse("What was wrong, in the form of OpenAI's API", "OpenAiError"),
  OpenAiError: errorResponse("Any other failure, in the form of OpenAI's API", "OpenAiError"),
  AnthropicBadRequest: errorResponse(
    "What was wrong, in the form of Anthropic's API",
    "AnthropicError",
  ),
  AnthropicError: errorResponse(
    "Any other failure, in the form of Anthropic's API",
    "AnthropicError",
  ),
};

function errorResponse(description: string, schema: string): Schema {
  return {
    description,
    content: { [jsonType]: { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}
