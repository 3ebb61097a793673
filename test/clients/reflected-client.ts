// A gRPC client built from server reflection alone: only the reflection protocol itself is known
// before the first call.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import {
  credentials,
  loadPackageDefinition,
  makeGenericClientConstructor,
  Metadata,
  type Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type GrpcObject,
  type ServiceClientConstructor,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "../../gen/grpc/reflection/v1/reflection_pb.js";

/** A message as plain JSON-like data, as proto-loader makes and takes it. */
export type Plain = Readonly<Record<string, unknown>>;

export type ReflectedClient = {
  readonly serviceNames: readonly string[];
  /** Calls a unary rpc; rejects with grpc-js's ServiceError. */
  call(service: string, method: string, request: Plain, key?: string): Promise<Plain>;
  /** Calls a server-streaming rpc and gathers its messages. */
  stream(service: string, method: string, request: Plain, key?: string): Promise<readonly Plain[]>;
  close(): void;
};

type Ask = (request: ServerReflectionRequest["messageRequest"]) => Promise<ReflectionAnswer>;
type ReflectionAnswer = ServerReflectionResponse["messageResponse"];

const ReflectionClient = makeGenericClientConstructor(
  {
    reflect: {
      path: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      requestStream: true,
      responseStream: true,
      requestSerialize: (message: ServerReflectionRequest) =>
        Buffer.from(toBinary(ServerReflectionRequestSchema, message)),
      requestDeserialize: (bytes: Buffer) => fromBinary(ServerReflectionRequestSchema, bytes),
      responseSerialize: (message: ServerReflectionResponse) =>
        Buffer.from(toBinary(ServerReflectionResponseSchema, message)),
      responseDeserialize: (bytes: Buffer) => fromBinary(ServerReflectionResponseSchema, bytes),
    },
  },
  "grpc.reflection.v1.ServerReflection",
);

/** Asks the server what it serves and makes clients of the answer. */
export async function connectByReflection(url: string): Promise<ReflectedClient> {
  const address = new URL(url).host;
  const channelCredentials = credentials.createInsecure();
  const reflection = new ReflectionClient(address, channelCredentials);
  const { serviceNames, files } = await reflectAll(reflection);
  reflection.close();

  const set = create(FileDescriptorSetSchema, { file: [...files.values()] });
  const types = loadPackageDefinition(
    loadFileDescriptorSetFromBuffer(Buffer.from(toBinary(FileDescriptorSetSchema, set)), {
      keepCase: true,
      longs: Number,
      enums: String,
    }),
  );
  const clients = new Map<string, Client>();
  const clientOf = (service: string): Client => {
    const Constructor = find(types, service);
    const client = clients.get(service) ?? new Constructor(address, channelCredentials);
    clients.set(service, client);
    return client;
  };
  return {
    serviceNames,
    call: (service, method, request, key) =>
      new Promise((resolve, reject) => {
        const send = methodOf(clientOf(service), method) as UnaryMethod;
        send(request, metadataOf(key), (error, answer) => {
          if (error) reject(error);
          else resolve(answer ?? {});
        });
      }),
    async stream(service, method, request, key) {
      const open = methodOf(clientOf(service), method) as StreamMethod;
      const messages: Plain[] = [];
      for await (const message of open(request, metadataOf(key))) messages.push(message as Plain);
      return messages;
    },
    close: () => clients.forEach((client) => client.close()),
  };
}

type UnaryMethod = (
  request: Plain,
  metadata: Metadata,
  callback: (error: ServiceError | null, answer?: Plain) => void,
) => void;
type StreamMethod = (request: Plain, metadata: Metadata) => ClientReadableStream<Plain>;

function methodOf(client: Client, method: string): unknown {
  if (!(method in client)) throw new Error(`reflection told of no method ${method}`);
  const methods = client as unknown as Record<string, (...values: unknown[]) => unknown>;
  return (...values: unknown[]) => methods[method]?.(...values);
}

function metadataOf(key: string | undefined): Metadata {
  const metadata = new Metadata();
  if (key !== undefined) metadata.set("authorization", `Bearer ${key}`);
  return metadata;
}

function find(types: GrpcObject, service: string): ServiceClientConstructor {
  let at: unknown = types;
  for (const part of service.split(".")) at = (at as Record<string, unknown>)[part];
  if (typeof at !== "function") throw new Error(`reflection told of no service ${service}`);
  return at as ServiceClientConstructor;
}

async function reflectAll(client: Client) {
  const { ask, end } = openReflection(client);
  const listed = await ask({ case: "listServices", value: "*" });
  if (listed.case !== "listServicesResponse") throw new Error(`no list: ${String(listed.case)}`);
  const serviceNames = listed.value.service.map(({ name }) => name);
  const files = new Map<string, FileDescriptorProto>();
  const add = async (request: ServerReflectionRequest["messageRequest"]): Promise<void> => {
    const answer = await ask(request);
    if (answer.case !== "fileDescriptorResponse") {
      throw new Error(`no file for ${JSON.stringify(request)}`);
    }
    for (const bytes of answer.value.fileDescriptorProto) {
      const file = fromBinary(FileDescriptorProtoSchema, bytes);
      files.set(file.name, file);
      for (const name of file.dependency) {
        if (!files.has(name)) await add({ case: "fileByFilename", value: name });
      }
    }
  };
  for (const name of serviceNames) await add({ case: "fileContainingSymbol", value: name });
  end();
  return { serviceNames, files };
}

type OpenReflection = () => ClientDuplexStream<unknown, ServerReflectionResponse>;

// One stream, one question at a time: answers come in the order of the questions.
function openReflection(client: Client): { ask: Ask; end: () => void } {
  const open = methodOf(client, "reflect") as OpenReflection;
  const stream = open();
  const answers = stream[Symbol.asyncIterator]() as AsyncIterator<
    ServerReflectionResponse,
    undefined
  >;
  return {
    async ask(messageRequest) {
      stream.write(create(ServerReflectionRequestSchema, { messageRequest }));
      const { value } = await answers.next();
      if (value === undefined) throw new Error("the reflection stream ended early");
      return value.messageResponse;
    },
    end: () => stream.end(),
  };
}
