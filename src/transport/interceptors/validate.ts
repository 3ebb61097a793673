// Checks request messages against the `buf.validate` rules of their protos. Messages without a rule
// at any level are skipped, so that batches have no cost.
// Source: docs/decisions.md, 4, 15.1; proto/third_party/buf/validate/validate.proto.

import { type DescMessage, hasOption, type Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import type { Interceptor } from "@connectrpc/connect";
import {
  field as fieldRules,
  message as messageRules,
} from "../../../gen/buf/validate/validate_pb.js";
import { refuse } from "../../base/errors.ts";
import { isScopeGoneKey } from "../../access/call.ts";

const validator = createValidator({ failFast: true });
const known = new Map<DescMessage, boolean>();

/**
 * Rejects a single request that breaks a rule with INVALID_ARGUMENT and the field's name. Streams
 * of requests are not checked.
 */
export const validateInterceptor: Interceptor = (next) => (request) => {
  if (request.stream) {
    if (request.method.methodKind !== "server_streaming") return next(request);
    return next({ ...request, message: validated(request.method.input, request.message) });
  }
  // A call on an archived scope runs nothing, and a validation error would reveal the scope.
  if (!request.contextValues.get(isScopeGoneKey)) {
    assertValid(request.method.input, request.message);
  }
  return next(request);
};

async function* validated(
  desc: DescMessage,
  messages: AsyncIterable<Message>,
): AsyncIterable<Message> {
  for await (const message of messages) {
    assertValid(desc, message);
    yield message;
  }
}

function assertValid(desc: DescMessage, message: Message): void {
  if (!hasRules(desc)) return;
  const result = validator.validate(desc, message);
  if (result.kind === "valid") return;
  if (result.kind === "error") throw result.error;
  const [violation] = result.violations;
  const path = violation ? pathToString(violation.field) : "";
  refuse(path, violation?.message ?? "is not valid");
}

/** Returns whether a message or any message inside it has a rule. */
function hasRules(desc: DescMessage): boolean {
  const answer = known.get(desc);
  if (answer !== undefined) return answer;
  // A recursive message adds no further rule.
  known.set(desc, false);
  const found =
    hasOption(desc, messageRules) ||
    desc.fields.some(
      (field) =>
        hasOption(field, fieldRules) || (field.message !== undefined && hasRules(field.message)),
    );
  known.set(desc, found);
  return found;
}
