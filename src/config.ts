// Reads environment and flags into a typed, frozen Config. The only reader of process.env. Each
// flag `--some-name` is also the variable WAGGLE_SOME_NAME; the flag wins.

import { bodyBytesMaxDefault, bytesInFlightMaxDefault } from "./base/limits.ts";
import {
  type OperatorAlias,
  type OperatorProvider,
  parseModelAliases,
  parsePrivateHosts,
  parseProviders,
  readProviderVariables,
} from "./provider-settings.ts";
import {
  oneOf,
  parseAddress,
  parseClusters,
  parseEmail,
  parseEncryptionKeys,
  parseIssuer,
  parseList,
  parseOptional,
  parseOrigin,
  parsePostgresUrl,
  parseScopes,
  parseSwitch,
  parseText,
  parseTls,
  wholeNumber,
} from "./setting-parsers.ts";

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const dataplaneAssignments = ["automatic", "manual"] as const;
export type LogLevel = (typeof logLevels)[number];

export type Config = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Folder of credentials, the lock and the embedded Postgres. */
  readonly dataFolder: string;
  /** Postgres URL that replaces the embedded one. */
  readonly databaseUrl: string | undefined;
  /** Maximum connections to each database, including clusters; postgres/pools.ts divides them. */
  readonly databaseConnectionsMax: number;
  /** Postgres URLs by cluster id, for events outside the control database. */
  readonly clusters: Readonly<Record<string, string>>;
  readonly operatorHost: string;
  /** 0 turns the operator port off. */
  readonly operatorPort: number;
  readonly logLevel: LogLevel;
  /** Whether the service records its own OpenTelemetry spans. */
  readonly isTracing: boolean;
  /** Origins that browsers may call from; `*` means any; empty by default. */
  readonly corsOrigins: readonly string[];
  /** Maximum body bytes after decompression, by class. */
  readonly bodyBytesMax: Readonly<Record<keyof typeof bodyBytesMaxDefault, number>>;
  /**
   * Maximum body bytes in memory of all requests; further ones get a 503. Models' answers may take
   * a share of as many bytes (modelAnswersShare) in addition.
   */
  readonly bytesInFlightMax: number;
  /** Time after which a stalled body is cut off. */
  readonly bodyTimeoutMs: number;
  /** Time in which running requests may finish after SIGTERM. */
  readonly drainTimeoutMs: number;
  readonly keyCacheEntriesMax: number;
  /** Maximum time for which a revoked key still works if the database is unavailable. */
  readonly keyCacheAgeMs: number;
  /** Maximum delay of a revocation whose notification was lost. */
  readonly accessPollMs: number;
  /** Origin at which browsers reach the service; undefined: the Host header. */
  readonly publicUrl: string | undefined;
  /** Identity provider; undefined: people sign in with one-time links. */
  readonly oidc: OidcConfig | undefined;
  /** File that replaces the built-in roles. */
  readonly rolesManifest: string | undefined;
  /** E-mail address of the administrator who signs in with one-time links. */
  readonly adminEmail: string;
  /** Automatic: one data plane for each organization; changes of data planes are refused. */
  readonly dataplaneAssignment: (typeof dataplaneAssignments)[number];
  /** Whether `waggle start` also runs workflows. */
  readonly hasWorkflows: boolean;
  readonly temporal: TemporalConfig;
  /** Maximum duration of a generation with all attempts and its whole stream. */
  readonly generationTimeoutMs: number;
  /** Maximum running model calls of one project; further calls are refused with a 503. */
  readonly generationConcurrencyMax: number;
  /** Model providers for every project, from their usual variables and from `providers`. */
  readonly operatorProviders: readonly OperatorProvider[];
  /** Model aliases for every project. */
  readonly operatorAliases: readonly OperatorAlias[];
  /** Private hosts, as `host` or `host:port`, that base URLs of tenants may name. */
  readonly providerPrivateHosts: readonly string[];
  /** Maximum time from a request to a provider to the first byte of its answer. */
  readonly providerTimeoutMs: number;
  /** Maximum time between two parts of a provider's answer. */
  readonly providerIdleTimeoutMs: number;
  /** Maximum tries of a model before the next one of its alias. */
  readonly providerAttemptsMax: number;
  /** Keys of provider secrets: the first one encrypts, the others decrypt older secrets. */
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly evaluation: EvaluationConfig;
  /** Folders that are searched for programs. */
  readonly path: string;
};

/** Limits of an evaluator, and the failures that disable it. */
export type EvaluationConfig = {
  /** Maximum time of the code on one event. */
  readonly timeLimitMs: number;
  readonly memoryBytesMax: number;
  /** Maximum bytes of the code's printed output and return value. */
  readonly outputBytesMax: number;
  readonly codeBytesMax: number;
  readonly processesMax: number;
  readonly failuresMax: number;
};

/** Key that encrypts secrets. */
export type EncryptionKey = {
  /** Stored unencrypted with each secret that the key encrypts. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
};

/** Connection to the identity provider. */
export type OidcConfig = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  /** Whether to treat an e-mail as verified if the provider does not tell. */
  readonly isEmailTrusted: boolean;
};

/** Temporal server of the workflows; the names are those of Temporal's own programs. */
export type TemporalConfig = {
  /** `host:port`; replaces the embedded server. */
  readonly address: string | undefined;
  readonly namespace: string;
  readonly apiKey: string | undefined;
  /** Undefined: on with an API key or a certificate. */
  readonly tls: boolean | undefined;
  readonly clientCertPath: string | undefined;
  readonly clientKeyPath: string | undefined;
  readonly serverCaCertPath: string | undefined;
  /** Path of the embedded server's program. */
  readonly cliPath: string | undefined;
};

/** Names a wrong flag or variable and its fault, so that it can be corrected. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

type Setting<T> = {
  readonly fallback: string;
  readonly help: string;
  readonly parse: (text: string) => T;
};

const portMax = 65_535;
/** Maximum, because a revocation reaches every server within 60 s (docs/decisions.md, 32). */
const keyCacheAgeMsMax = 60_000;
const bytesMax = 2 ** 31;
/** Every flag, in the order of `--help`. */
export const settings = {
  host: setting("127.0.0.1", "address to listen on", parseText),
  port: setting("8080", "port to listen on; 0 takes a free one", wholeNumber(0, portMax)),
  data: setting("./data", "folder of credentials and of the embedded Postgres", parseText),
  "database-url": setting("", "Postgres to use in place of the embedded one", parsePostgresUrl),
  "database-connections": setting("12", "connections to each database", wholeNumber(4, 1_000)),
  clusters: setting("", 'databases of events: {"id": "postgres://…"}', parseClusters),
  "operator-host": setting("127.0.0.1", "address of /metrics", parseText),
  "operator-port": setting("9464", "port of /metrics; 0 turns it off", wholeNumber(0, portMax)),
  "log-level": setting("info", logLevels.join(", "), oneOf(logLevels)),
  tracing: setting("off", "OpenTelemetry spans of the service itself: on, off", parseSwitch),
  "cors-origins": setting("", "origins browsers may call from, with commas; * is any", parseList),
  "body-record-max": bytes(bodyBytesMaxDefault.record, "body of a single record, in bytes"),
  "body-batch-max": bytes(bodyBytesMaxDefault.batch, "body of a batch"),
  "body-traces-max": bytes(bodyBytesMaxDefault.traces, "body of OpenTelemetry traces"),
  "body-other-max": bytes(bodyBytesMaxDefault.other, "any other body"),
  "body-anonymous-max": bytes(bodyBytesMaxDefault.anonymous, "body of a call without a key"),
  "bytes-in-flight-max": bytes(bytesInFlightMaxDefault, "memory of all requests and answers"),
  "body-timeout-ms": setting("30000", "a body may stall so long", wholeNumber(1, 60_000)),
  "drain-timeout-ms": setting("20000", "wait at SIGTERM", wholeNumber(0, 600_000)),
  "key-cache-entries": setting("10000", "keys remembered in memory", wholeNumber(0, 1_000_000)),
  "key-cache-age-ms": setting("30000", "and for how long", wholeNumber(0, keyCacheAgeMsMax)),
  "access-poll-ms": setting("5000", "look for ended keys so often", wholeNumber(100, 30_000)),
  "public-url": setting("", "where browsers reach it: https://waggle.example.org", parseOrigin),
  "oidc-issuer": setting("", "identity provider that people sign in with", parseIssuer),
  "oidc-client-id": setting("", "this service's name at the provider", parseText),
  "oidc-client-secret": setting("", "and its secret; better as a variable", parseText),
  "oidc-scopes": setting("openid email profile", "what to ask it for", parseScopes),
  "oidc-groups-claim": setting("groups", "claim that lists a person's groups", parseText),
  "oidc-trust-email": setting("off", "take e-mails as verified unless it denies it", parseSwitch),
  "roles-manifest": setting("", "YAML file in place of the built-in roles", parseOptional),
  "admin-email": setting("admin@localhost", "administrator without a provider", parseEmail),
  "dataplane-assignment": setting(
    "automatic",
    "who places data planes: automatic, manual",
    oneOf(dataplaneAssignments),
  ),
  workflows: setting("on", "run workflows in waggle start: on, off", parseSwitch),
  "temporal-address": setting("", "Temporal to use in place of the embedded one", parseAddress),
  "temporal-namespace": setting("default", "its namespace", parseText),
  "temporal-api-key": setting("", "its API key, which implies TLS", parseOptional),
  "temporal-tls": setting("", "TLS to it: on, off (on with a key or certificate)", parseTls),
  "temporal-tls-client-cert-path": setting("", "client certificate, PEM file", parseOptional),
  "temporal-tls-client-key-path": setting("", "its private key", parseOptional),
  "temporal-tls-server-ca-cert-path": setting("", "authority of the server", parseOptional),
  "temporal-cli-path": setting("", "program of the embedded Temporal", parseOptional),
  "encryption-keys": setting(
    "",
    "what secrets of providers are stored under: id:base64-of-32-bytes,…",
    parseEncryptionKeys,
  ),
  providers: setting("", "model providers as JSON; better as a variable", parseProviders),
  "model-aliases": setting("", 'aliases: {"fast": ["openai/gpt-4o-mini"]}', parseModelAliases),
  "provider-private-hosts": setting(
    "",
    "private host or host:port tenants may name",
    parsePrivateHosts,
  ),
  "provider-timeout-ms": setting("300000", "wait for first byte", wholeNumber(1, 3_600_000)),
  "provider-idle-timeout-ms": setting("60000", "and between bytes", wholeNumber(1, 3_600_000)),
  "provider-attempts": setting(
    "3",
    "tries of a model, before its alias's next",
    wholeNumber(1, 10),
  ),
  "generation-concurrency": setting("256", "calls at a time, by project", wholeNumber(1, 100_000)),
  "generation-timeout-ms": setting("600000", "longest generation", wholeNumber(1_000, 3_600_000)),
  "evaluator-time-limit-ms": setting("10000", "of code on one event", wholeNumber(10, 600_000)),
  "evaluator-memory-max": setting("512000000", "and its memory", wholeNumber(128e6, 2 ** 32)),
  "evaluator-output-max": bytes(1_000_000, "what code prints and returns"),
  "evaluator-code-max": bytes(100_000, "code of an evaluator"),
  "evaluator-processes": setting("5", "sandboxes at a time", wholeNumber(1, 1_000)),
  "evaluator-failures": setting("10", "in a row disable an evaluator", wholeNumber(1, 100_000)),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
export type Flags = Readonly<Record<string, string | boolean | undefined>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads every setting: from its flag, else its variable, else the default.
 *
 * Fails with ConfigError naming the variable and the flag.
 */
export function readConfig(flags: Flags, environment: Environment = process.env): Config {
  const read: Read = (name) => readSetting(name, flags, environment);
  return Object.freeze({
    host: read("host"),
    port: read("port"),
    dataFolder: read("data"),
    databaseUrl: read("database-url"),
    databaseConnectionsMax: read("database-connections"),
    clusters: Object.freeze(read("clusters")),
    operatorHost: read("operator-host"),
    operatorPort: read("operator-port"),
    logLevel: read("log-level"),
    isTracing: read("tracing"),
    corsOrigins: Object.freeze(read("cors-origins")),
    bodyBytesMax: Object.freeze({
      record: read("body-record-max"),
      batch: read("body-batch-max"),
      traces: read("body-traces-max"),
      other: read("body-other-max"),
      anonymous: read("body-anonymous-max"),
      open: bodyBytesMaxDefault.open,
    }),
    bytesInFlightMax: read("bytes-in-flight-max"),
    bodyTimeoutMs: read("body-timeout-ms"),
    drainTimeoutMs: read("drain-timeout-ms"),
    keyCacheEntriesMax: read("key-cache-entries"),
    keyCacheAgeMs: read("key-cache-age-ms"),
    accessPollMs: read("access-poll-ms"),
    publicUrl: read("public-url"),
    oidc: readOidc(read),
    rolesManifest: read("roles-manifest"),
    adminEmail: read("admin-email"),
    dataplaneAssignment: read("dataplane-assignment"),
    hasWorkflows: read("workflows"),
    temporal: Object.freeze({
      address: read("temporal-address"),
      namespace: read("temporal-namespace"),
      apiKey: read("temporal-api-key"),
      tls: read("temporal-tls"),
      clientCertPath: read("temporal-tls-client-cert-path"),
      clientKeyPath: read("temporal-tls-client-key-path"),
      serverCaCertPath: read("temporal-tls-server-ca-cert-path"),
      cliPath: read("temporal-cli-path"),
    }),
    encryptionKeys: read("encryption-keys"),
    generationTimeoutMs: read("generation-timeout-ms"),
    generationConcurrencyMax: read("generation-concurrency"),
    operatorProviders: readProviders(read, environment),
    operatorAliases: Object.freeze(read("model-aliases")),
    providerPrivateHosts: Object.freeze(read("provider-private-hosts")),
    providerTimeoutMs: read("provider-timeout-ms"),
    providerIdleTimeoutMs: read("provider-idle-timeout-ms"),
    providerAttemptsMax: read("provider-attempts"),
    evaluation: Object.freeze({
      timeLimitMs: read("evaluator-time-limit-ms"),
      memoryBytesMax: read("evaluator-memory-max"),
      outputBytesMax: read("evaluator-output-max"),
      codeBytesMax: read("evaluator-code-max"),
      processesMax: read("evaluator-processes"),
      failuresMax: read("evaluator-failures"),
    }),
    path: environment["PATH"] ?? "",
  });
}

/** Settings whose variables have their usual names without a prefix. */
const namedElsewhere = /^(database-url|temporal-.+)$/;

/** Returns the variable of a flag: DATABASE_URL, TEMPORAL_…, else WAGGLE_ and the flag's name. */
export function variableOf(name: SettingName): string {
  const variable = name.toUpperCase().replaceAll("-", "_");
  return namedElsewhere.test(name) ? variable : `WAGGLE_${variable}`;
}

type Parsed<Name extends SettingName> = ReturnType<(typeof settings)[Name]["parse"]>;

type Read = <Name extends SettingName>(name: Name) => Parsed<Name>;

/** Refuses an incomplete identity provider, which would fail only at the first sign-in. */
function readOidc(read: Read): OidcConfig | undefined {
  const issuer = read("oidc-issuer");
  const clientId = read("oidc-client-id");
  const clientSecret = read("oidc-client-secret");
  const scopes = read("oidc-scopes");
  if (issuer === undefined && clientId === "" && clientSecret === "") return undefined;
  const needed = {
    "oidc-issuer": issuer,
    "oidc-client-id": clientId,
    "oidc-client-secret": clientSecret,
    "public-url": read("public-url"),
  };
  const missing = (Object.keys(needed) as (keyof typeof needed)[]).filter(
    (name) => (needed[name] ?? "") === "",
  );
  if (issuer === undefined || missing.length > 0) {
    const names = missing.map((name) => `${variableOf(name)} (--${name})`).join(", ");
    throw new ConfigError(`sign-in through an identity provider also needs ${names}`);
  }
  return Object.freeze({
    issuer,
    clientId,
    clientSecret,
    scopes,
    groupsClaim: read("oidc-groups-claim"),
    isEmailTrusted: read("oidc-trust-email"),
  });
}

/** Returns all providers; one of `providers` replaces one of the same name from variables. */
function readProviders(read: Read, environment: Environment): readonly OperatorProvider[] {
  const named = read("providers");
  try {
    const usual = readProviderVariables(environment);
    const others = usual.filter(({ name }) => !named.some((one) => one.name === name));
    return Object.freeze([...named, ...others]);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

function readSetting<Name extends SettingName>(
  name: Name,
  flags: Flags,
  environment: Environment,
): Parsed<Name> {
  const variable = variableOf(name);
  const flag = flags[name];
  const given = typeof flag === "string" ? flag : environment[variable];
  // A shell or a compose file unsets a variable by setting it to the empty text.
  const text = given === undefined || given === "" ? settings[name].fallback : given;
  try {
    return settings[name].parse(text) as Parsed<Name>;
  } catch (error) {
    throw new ConfigError(`${variable} (--${name}) ${(error as Error).message}`);
  }
}

function setting<T>(fallback: string, help: string, parse: (text: string) => T): Setting<T> {
  return { fallback, help, parse };
}

function bytes(fallback: number, help: string): Setting<number> {
  return setting(String(fallback), help, wholeNumber(1, bytesMax));
}
