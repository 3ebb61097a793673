// Bindings from `google.api.http` options: HTTP method, path template, and the mapping of path,
// query and body to the request message. Read at start-up; the proto is the only route table.
// Source: google/api/http.proto.

import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  type Message,
} from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../../gen/google/api/http_pb.js";
import { access, rest, type RestForm } from "../../../gen/waggle/v1/options_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { ItemFault } from "../../access/call.ts";
import { FieldFault, withinField } from "./field-fault.ts";
import { jsonKeyOf, projectionOf, requestKeysOf } from "./field-names.ts";
import { fieldReader, type ItemList, messageReader, type ReadContext } from "./json-reader.ts";
import { type PathTemplate, parsePathTemplate } from "./path-template.ts";
import { queryReader } from "./query.ts";
import type { PathVariable } from "./route-trie.ts";

/**
 * Parts of an HTTP request that make a message. `body` is parsed JSON; undefined if there is none.
 */
export type RequestParts = {
  readonly variables: readonly PathVariable[];
  readonly query: URLSearchParams;
  readonly body: unknown;
};

export type ReadRequest = {
  readonly message: Message;
  readonly itemFaults: readonly ItemFault[];
  /** Lists of the message whose items `readItems` has yet to read. */
  readonly lists: readonly ItemList[];
  /**
   * Bytes of memory of the message and its item errors so far, in addition to the JSON that was
   * read.
   */
  readonly made: { readonly bytes: number };
};

export type RestBinding = {
  readonly method: DescMethod;
  readonly form: RestForm;
  /** Whether unknown and legacy keys of a body are errors. */
  readonly isStrict: boolean;
  /** Whether answers write times as text. */
  readonly hasTextTimes: boolean;
  /** Whether answers leave out absent nullable fields. */
  readonly isNullFree: boolean;
  /** HTTP status of an answer of success with a message. */
  readonly successStatus: number;
  /** Field of the request that lists the fields of the answer. */
  readonly projection: DescField | undefined;
  readonly httpMethod: string;
  /** Path template as written in the proto. */
  readonly path: string;
  /** Whether `template` is that path under a project, which the variable `project_id` names. */
  readonly namesProject: boolean;
  readonly template: PathTemplate;
  /** Target of the body: the whole message or one field; undefined if there is no body. */
  readonly body: "message" | DescField | undefined;
  /** Field of the answer that is the whole body; undefined if the message is the body. */
  readonly answerField: DescField | undefined;
  /** Reads a request. Throws INVALID_ARGUMENT with the name of the field. */
  readonly read: (parts: RequestParts) => ReadRequest;
};

/** Returns the bindings of an rpc, the main one first; empty if it has no http rule. */
export function bindingsOf(method: DescMethod): readonly RestBinding[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  const rules = [rule, ...rule.additionalBindings];
  const bindings = rules.map((one) => createBinding(method, one, false));
  if (!getOption(method, access).namedProject) return bindings;
  const underVersion = rules.filter((one) => patternOf(method, one).path.startsWith(versionPath));
  return [...bindings, ...underVersion.map((one) => createBinding(method, one, true))];
}

const versionPath = "/v1/";
const projectPath = `${versionPath}projects/{project_id}/`;

function createBinding(method: DescMethod, rule: HttpRule, namesProject: boolean): RestBinding {
  const { httpMethod, path } = patternOf(method, rule);
  const body = bodyOf(method.input, rule.body);
  const form = getOption(method, rest);
  const isStrict = form.strictPaths.includes(path);
  const template = parsePathTemplate(namesProject ? path.replace(versionPath, projectPath) : path);
  const { responseBody } = rule;
  const assemble = assembler(method.input, body);
  return {
    method,
    form,
    isStrict,
    hasTextTimes: form.textTimePaths.includes(path),
    isNullFree: form.nullFreePaths.includes(path),
    successStatus: form.successStatus || 200,
    projection: projectionOf(method.input),
    httpMethod,
    path,
    namesProject,
    template,
    body,
    answerField: responseBody === "" ? undefined : fieldNamed(method.output, responseBody),
    read(parts) {
      const made = { bytes: 0 };
      const context: ReadContext = {
        isStrict,
        itemFaults: [],
        loose: { count: 0 },
        made,
        lists: [],
      };
      try {
        const message = assemble(parts, context);
        return { message, itemFaults: context.itemFaults, lists: context.lists, made };
      } catch (error) {
        if (!(error instanceof FieldFault)) throw error;
        throw new ServiceError("INVALID_ARGUMENT", error.text, { cause: error });
      }
    },
  };
}

function patternOf(method: DescMethod, rule: HttpRule): { httpMethod: string; path: string } {
  const { pattern } = rule;
  switch (pattern.case) {
    case "get":
    case "put":
    case "post":
    case "delete":
    case "patch":
      return { httpMethod: pattern.case.toUpperCase(), path: pattern.value };
    case "custom":
      return { httpMethod: pattern.value.kind, path: pattern.value.path };
    case undefined:
      throw new Error(`an http rule of ${method.name} names no path`);
  }
}

function bodyOf(message: DescMessage, body: string): RestBinding["body"] {
  if (body === "") return undefined;
  if (body === "*") return "message";
  return fieldNamed(message, body);
}

type Assemble = (parts: RequestParts, context: ReadContext) => Message;

function assembler(message: DescMessage, body: RestBinding["body"]): Assemble {
  const readMessage = messageReader(message);
  const setVariable = variableSetter(message);
  // With body "*" all fields come from the body or the path; query parameters are not read.
  if (body === "message") {
    return ({ variables, body: json }, context) => {
      if (!isJsonObject(json ?? {})) throw new FieldFault("the body must be a JSON object");
      const result = readMessage(json ?? {}, context);
      for (const variable of variables) setVariable(result, variable, context);
      return result;
    };
  }
  const readQuery = queryReader(message);
  const readField = body && fieldReader(body);
  return ({ variables, query, body: json }, context) => {
    // Strictness applies only to bodies; clients may add query parameters.
    const result = readMessage(readQuery(query), { ...context, isStrict: false });
    if (readField && json !== undefined && json !== null) readField(result, json, context);
    for (const variable of variables) setVariable(result, variable, context);
    return result;
  };
}

/**
 * Returns the setter of path variables. They are set last, so that a body cannot override the path.
 */
function variableSetter(
  message: DescMessage,
): (result: Message, variable: PathVariable, context: ReadContext) => void {
  return (result, { fieldPath, value }, context) => {
    const [name = "", ...inner] = fieldPath;
    const field = fieldNamed(message, name);
    try {
      const json = inner.reduceRight<unknown>((inside, key) => ({ [key]: inside }), value);
      fieldReader(field)(result, json, context);
    } catch (error) {
      throw withinField(error, jsonKeyOf(field));
    }
  };
}

function fieldNamed(message: DescMessage, name: string): DescField {
  const field = message.fields.find((one) => requestKeysOf(one).includes(name));
  if (!field) throw new Error(`${message.typeName} has no field ${name}, which an http rule names`);
  return field;
}
