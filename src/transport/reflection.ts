// Server reflection, v1 and v1alpha, from the generated descriptors: generic clients (grpcurl,
// Postman) see every service without a proto file.
// Source: proto/third_party/grpc/reflection/v1/reflection.proto.

/* oxlint-disable typescript/no-deprecated -- most clients still ask in v1alpha first */

import {
  createRegistry,
  type DescFile,
  type DescService,
  type Registry,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import {
  type ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.js";
import type * as alpha from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";

type Request = Pick<ServerReflectionRequest, "host" | "messageRequest">;
type Answer = NonNullable<
  MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]
>;

/** Returns the implementation of both protocol versions, which have the same messages. */
export function reflectionHandlers(
  services: () => readonly DescService[],
): ServiceImpl<typeof ServerReflection> & ServiceImpl<typeof alpha.ServerReflection> {
  let catalogue: Catalogue | undefined;
  return {
    async *serverReflectionInfo(requests: AsyncIterable<Request>) {
      for await (const request of requests) {
        catalogue ??= createCatalogue(services());
        yield {
          validHost: request.host,
          originalRequest: { host: request.host, messageRequest: request.messageRequest },
          messageResponse: answer(catalogue, request),
        };
      }
    },
  } as ServiceImpl<typeof ServerReflection> & ServiceImpl<typeof alpha.ServerReflection>;
}

type Catalogue = {
  readonly registry: Registry;
  readonly files: ReadonlyMap<string, DescFile>;
  readonly services: readonly DescService[];
};

function createCatalogue(services: readonly DescService[]): Catalogue {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file.proto.name)) return;
    file.dependencies.forEach(add);
    files.set(file.proto.name, file);
  };
  for (const service of services) add(service.file);
  return { registry: createRegistry(...files.values()), files, services };
}

function answer(catalogue: Catalogue, { messageRequest }: Request): Answer {
  switch (messageRequest.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: { service: catalogue.services.map((one) => ({ name: one.typeName })) },
      };
    case "fileByFilename":
      return fileAnswer(catalogue.files.get(messageRequest.value));
    case "fileContainingSymbol":
      return fileAnswer(fileOfSymbol(catalogue, messageRequest.value));
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = messageRequest.value;
      const found = extensionsOf(catalogue, containingType);
      return fileAnswer(found.find((one) => one.number === extensionNumber)?.file);
    }
    case "allExtensionNumbersOfType": {
      if (!catalogue.registry.getMessage(messageRequest.value)) return notFound("no such message");
      const numbers = extensionsOf(catalogue, messageRequest.value).map((one) => one.number);
      return {
        case: "allExtensionNumbersResponse",
        value: { baseTypeName: messageRequest.value, extensionNumber: numbers },
      };
    }
    default:
      return {
        case: "errorResponse",
        value: { errorCode: Code.InvalidArgument, errorMessage: "an empty request" },
      };
  }
}

/** Returns the file of a symbol: a type, or a method, field or enum value inside a type. */
function fileOfSymbol({ registry }: Catalogue, symbol: string): DescFile | undefined {
  const known = registry.get(symbol);
  if (known) return known.file;
  const dot = symbol.lastIndexOf(".");
  if (dot < 0) return undefined;
  const [outer, name] = [registry.get(symbol.slice(0, dot)), symbol.slice(dot + 1)];
  switch (outer?.kind) {
    case "service":
      return outer.methods.some((one) => one.name === name) ? outer.file : undefined;
    case "message":
      return outer.members.some((one) => one.name === name) ? outer.file : undefined;
    default:
      return undefined;
  }
}

function extensionsOf({ registry }: Catalogue, typeName: string) {
  return [...registry].filter(
    (one) => one.kind === "extension" && one.extendee.typeName === typeName,
  ) as Extract<typeof registry extends Iterable<infer T> ? T : never, { kind: "extension" }>[];
}

function fileAnswer(file: DescFile | undefined): Answer {
  if (!file) return notFound("no such symbol");
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: [toBinary(FileDescriptorProtoSchema, file.proto)] },
  };
}

function notFound(errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode: Code.NotFound, errorMessage } };
}
