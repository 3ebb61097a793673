// A buf plugin, run in `npm run gen` (buf.gen.yaml): writes the comments of our protos to
// gen/comments.json for the OpenAPI document, since generated descriptors have no comments.
// Source: google/protobuf/compiler/plugin.proto; google/protobuf/descriptor.proto, SourceCodeInfo.

import { readFileSync, writeSync } from "node:fs";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponse_Feature as Feature,
  CodeGeneratorResponseSchema,
  type DescriptorProto,
  type FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";

const standardInput = 0;
const standardOutput = 1;

/** Field numbers in descriptor.proto that make up the paths of SourceCodeInfo. */
const numbers = { fileMessage: 4, fileService: 6, messageField: 2, messageNested: 3, method: 2 };

/** A line that speaks to buf's linter, not to readers. */
const lintDirective = /^ *buf:lint:.*$/gm;

const request = fromBinary(CodeGeneratorRequestSchema, readFileSync(standardInput));
const ours = request.protoFile.filter((file) => file.name.startsWith("waggle/"));
const comments = Object.fromEntries(ours.flatMap((file) => [...commentsOf(file)]));
const response = create(CodeGeneratorResponseSchema, {
  supportedFeatures: BigInt(Feature.PROTO3_OPTIONAL),
  file: [{ name: "comments.json", content: `${JSON.stringify(comments, undefined, 2)}\n` }],
});
writeSync(standardOutput, toBinary(CodeGeneratorResponseSchema, response));

/** Yields the full name and the comment of every service, rpc, message and field of a file. */
function* commentsOf(file: FileDescriptorProto): Iterable<[string, string]> {
  const names = namesOf(file);
  for (const location of file.sourceCodeInfo?.location ?? []) {
    const name = names.get(location.path.join("."));
    const text = location.leadingComments.replace(lintDirective, "").replace(/^ /gm, "").trim();
    if (name !== undefined && text !== "") yield [name, text];
  }
}

function namesOf(file: FileDescriptorProto): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const addMessage = (message: DescriptorProto, path: string, scope: string): void => {
    const name = `${scope}.${message.name}`;
    names.set(path, name);
    message.field.forEach((field, index) => {
      names.set(`${path}.${numbers.messageField}.${index}`, `${name}.${field.name}`);
    });
    message.nestedType.forEach((nested, index) => {
      addMessage(nested, `${path}.${numbers.messageNested}.${index}`, name);
    });
  };
  file.messageType.forEach((message, index) => {
    addMessage(message, `${numbers.fileMessage}.${index}`, file.package);
  });
  file.service.forEach((service, index) => {
    const path = `${numbers.fileService}.${index}`;
    const name = `${file.package}.${service.name}`;
    names.set(path, name);
    service.method.forEach((method, at) => {
      names.set(`${path}.${numbers.method}.${at}`, `${name}.${method.name}`);
    });
  });
  return names;
}
