// Reads environment and flags into a typed, frozen Config. The only reader of process.env. Each
// flag `--some-name` is also the variable WAGGLE_SOME_NAME; the flag wins.

import { bodyBytesMaxDefault, bytesInFlightMaxDefault } from "./base/limits.ts";
import { parsePrices } from "./price-settings.ts";
import {
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
  parseFilePlace,
  parseIssuer,
  parseLink,
  parseOptional,
  parseOrigin,
  parseOrigins,
  parsePostgresUrl,
  parseScopes,
  parseSender,
  parseSmtpUrl,
  parseSwitch,
  parseText,
  parseTls,
  wholeNumber,
} from "./setting-parsers.ts";

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const dataplaneAssignments = ["automatic", "manual"] as const;

type Setting<T> = {
  readonly flag: string;
  readonly help: string;
  readonly parse: (text: string) => T;
  /** Text that is parsed if there is neither flag nor variable. */
  readonly fallback: string;
};

const portMax = 65_535;
/** Maximum, because a revocation reaches every server within 60 s (docs/decisions.md, 32). */
const keyCacheAgeMsMax = 60_000;
const bytesMax = 2 ** 31;
const hourMs = 3_600_000;

/** Every setting under its name in Config, in the order of `--help`. */
const table = {
  host: setting("host", "address to listen on", parseText, "127.0.0.1"),
  port: whole("port", "port to listen on; 0: any free port", 8080, [0, portMax]),
  dataFolder: setting("data", "folder of credentials and embedded Postgres", parseText, "./data"),
  databaseUrl: setting("database-url", "Postgres in place of the embedded one", parsePostgresUrl),
  /** Includes the databases of clusters; postgres/pools.ts divides the connections. */
  databaseConnectionsMax: whole(
    "database-connections",
    "connections to each database",
    12,
    [4, 1_000],
  ),
  clusters: setting("clusters", 'databases of events: {"id": "postgres://…"}', parseClusters),
  operatorHost: setting("operator-host", "address of /metrics", parseText, "127.0.0.1"),
  operatorPort: whole("operator-port", "port of /metrics; 0 turns it off", 9464, [0, portMax]),
  logLevel: setting("log-level", logLevels.join(", "), oneOf(logLevels), "info"),
  isTracing: setting("tracing", "OpenTelemetry spans of the service: on, off", parseSwitch, "off"),
  /** Undefined: none are exported. In Config it turns tracing on. */
  ownTracesEndpoint: setting(
    "otel-exporter-otlp-endpoint",
    "OTLP server that gets the spans of the service: http://collector:4318",
    parseLink,
  ),
  corsOrigins: setting("cors-origins", "browsers' origins, with commas; * is any", parseOrigins),
  /** Maximum body bytes after decompression, by class. */
  bodyBytesMax: {
    record: bytes("body-record-max", "bytes of a single record", bodyBytesMaxDefault.record),
    batch: bytes("body-batch-max", "bytes of a batch", bodyBytesMaxDefault.batch),
    traces: bytes(
      "body-traces-max",
      "bytes of OpenTelemetry traces or logs",
      bodyBytesMaxDefault.traces,
    ),
    other: bytes("body-other-max", "bytes of any other body", bodyBytesMaxDefault.other),
    anonymous: bytes("body-anonymous-max", "bytes without a key", bodyBytesMaxDefault.anonymous),
  },
  /**
   * Further bodies get a 503. Models' answers may take a share of as many bytes (modelAnswersShare)
   * in addition.
   */
  bytesInFlightMax: bytes("bytes-in-flight-max", "bytes of all bodies", bytesInFlightMaxDefault),
  bodyTimeoutMs: whole("body-timeout-ms", "wait for a stalled body", 30_000, [1, 60_000]),
  shutdownDelayMs: whole("shutdown-delay-ms", "serve's wait for balancers", 5_000, [0, 600_000]),
  drainTimeoutMs: whole("drain-timeout-ms", "wait for requests at SIGTERM", 20_000, [0, 600_000]),
  keyCacheEntriesMax: whole("key-cache-entries", "API keys kept in memory", 10_000, [0, 1_000_000]),
  /** Maximum time for which a revoked key still works if the database is unavailable. */
  keyCacheAgeMs: whole("key-cache-age-ms", "maximum age there", 30_000, [0, keyCacheAgeMsMax]),
  /** Maximum delay of a revocation whose notification was lost. */
  accessPollMs: whole("access-poll-ms", "interval of checks for revocations", 5_000, [100, 30_000]),
  publicUrl: setting("public-url", "origin in browsers: https://waggle.example.org", parseOrigin),
  oidc: {
    issuer: setting("oidc-issuer", "identity provider that people sign in with", parseIssuer),
    clientId: setting("oidc-client-id", "name of this service at the provider", parseText),
    clientSecret: setting("oidc-client-secret", "client secret; better as a variable", parseText),
    scopes: setting("oidc-scopes", "scopes of sign-ins", parseScopes, "openid email profile"),
    groupsClaim: setting("oidc-groups-claim", "claim with a person's groups", parseText, "groups"),
    /** Whether to treat an e-mail as verified if the provider does not tell. */
    isEmailTrusted: setting(
      "oidc-trust-email",
      "on: an e-mail is verified unless the provider denies it",
      parseSwitch,
      "off",
    ),
  },
  rolesManifest: setting("roles-manifest", "YAML file that replaces built-in roles", parseOptional),
  adminEmail: setting("admin-email", "administrator without OIDC", parseEmail, "admin@localhost"),
  /** Automatic: one data plane for each organization; changes of data planes are refused. */
  dataplaneAssignment: setting(
    "dataplane-assignment",
    "assignment of data planes: automatic, manual",
    oneOf(dataplaneAssignments),
    "automatic",
  ),
  hasWorkflows: setting("workflows", "run workflows in waggle start: on, off", parseSwitch, "on"),
  /** Temporal server of the workflows; the names are those of Temporal's own programs. */
  temporal: {
    address: setting("temporal-address", "Temporal that replaces the embedded one", parseAddress),
    namespace: setting("temporal-namespace", "namespace of the workflows", parseText, "default"),
    apiKey: setting("temporal-api-key", "API key of Temporal; implies TLS", parseOptional),
    /** Undefined: on with an API key or a certificate. */
    tls: setting("temporal-tls", "on, off (on with an API key or a certificate)", parseTls),
    clientCertPath: setting(
      "temporal-tls-client-cert-path",
      "client certificate, a PEM file",
      parseOptional,
    ),
    clientKeyPath: setting("temporal-tls-client-key-path", "its private key", parseOptional),
    serverCaCertPath: setting(
      "temporal-tls-server-ca-cert-path",
      "certificate authority of Temporal",
      parseOptional,
    ),
    /** Undefined: that of the embedded Temporal, if it runs. */
    uiUrl: setting("temporal-ui-url", "Temporal's page: https://temporal.example.org", parseLink),
    cliPath: setting("temporal-cli-path", "program of the embedded Temporal", parseOptional),
  },
  /** The first key encrypts provider secrets, the others decrypt older ones. */
  encryptionKeys: setting(
    "encryption-keys",
    "keys of stored provider secrets: id:base64-of-32-bytes,…",
    parseEncryptionKeys,
  ),
  /** In Config with the providers of the usual variables. */
  operatorProviders: setting(
    "providers",
    "model providers as JSON; better as a variable",
    parseProviders,
  ),
  operatorAliases: setting("model-aliases", '{"fast": ["openai/gpt-4o-mini"]}', parseModelAliases),
  prices: setting("prices", 'prices: {"my-model": {"input_mtok": 0.5}}', parsePrices),
  providerPrivateHosts: setting(
    "provider-private-hosts",
    "private host or host:port that tenants may name",
    parsePrivateHosts,
  ),
  /** Where sessions that retention deletes are written before; undefined: nowhere. */
  retentionExport: setting(
    "retention-export",
    "files of deleted sessions: a folder, or s3://bucket/prefix",
    parseFilePlace,
  ),
  /** S3-compatible server that replaces AWS. */
  retentionS3Endpoint: setting(
    "retention-s3-endpoint",
    "S3-compatible server of these files: https://host",
    parseOrigin,
  ),
  /** Server of e-mails of alerts; undefined: none are sent. */
  smtpUrl: setting("smtp-url", "mail server: smtp://user:password@host:587", parseSmtpUrl),
  smtpFrom: setting("smtp-from", "sender of mails", parseSender, "Waggle <waggle@localhost>"),
  webhookPrivateHosts: setting(
    "webhook-private-hosts",
    "private host or host:port that webhooks may lead to",
    parsePrivateHosts,
  ),
  providerTimeoutMs: whole("provider-timeout-ms", "wait for the first byte of an answer", 300_000, [
    1,
    hourMs,
  ]),
  providerIdleTimeoutMs: whole(
    "provider-idle-timeout-ms",
    "wait between two parts of an answer",
    60_000,
    [1, hourMs],
  ),
  /** Maximum tries of a model before the next one of its alias. */
  providerAttemptsMax: whole(
    "provider-attempts",
    "tries of a model before its alias's next",
    3,
    [1, 10],
  ),
  /** Further calls are refused with a 503. */
  generationConcurrencyMax: whole(
    "generation-concurrency",
    "model calls at a time, by project",
    256,
    [1, 100_000],
  ),
  /** Includes all attempts and the whole stream. */
  generationTimeoutMs: whole(
    "generation-timeout-ms",
    "time of a generation with all attempts",
    600_000,
    [1_000, hourMs],
  ),
  /** Limits of an evaluator, and the failures that disable it. */
  evaluation: {
    timeLimitMs: whole(
      "evaluator-time-limit-ms",
      "time of code on an event",
      10_000,
      [10, 600_000],
    ),
    memoryBytesMax: whole("evaluator-memory-max", "bytes of its memory", 512_000_000, [
      128e6,
      2 ** 32,
    ]),
    outputBytesMax: bytes("evaluator-output-max", "bytes that it prints and returns", 1_000_000),
    codeBytesMax: bytes("evaluator-code-max", "bytes of code", 100_000),
    processesMax: whole("evaluator-processes", "sandboxes at a time", 5, [1, 1_000]),
    failuresMax: whole(
      "evaluator-failures",
      "failures in a row that disable a metric",
      10,
      [1, 100_000],
    ),
  },
} as const satisfies Table;

type Table = { readonly [name: string]: Setting<unknown> | Table };

/** Values of a table's settings under the same names. */
type Values<T> = {
  readonly [Name in keyof T]: T[Name] extends Setting<infer Value> ? Value : Values<T[Name]>;
};

type Read = Values<typeof table>;

export type Config = Omit<Read, "oidc" | "bodyBytesMax"> & {
  readonly bodyBytesMax: Readonly<Record<keyof typeof bodyBytesMaxDefault, number>>;
  /** Identity provider; undefined: people sign in with one-time links. */
  readonly oidc: OidcConfig | undefined;
  /** Folders that are searched for programs. */
  readonly path: string;
};

export type TemporalConfig = Config["temporal"];
/** Key that encrypts secrets; its id is stored unencrypted with each secret. */
export type EncryptionKey = Config["encryptionKeys"][number];
/** Connection to the identity provider. */
export type OidcConfig = Read["oidc"] & { readonly issuer: string };

/** Names a wrong flag or variable and its fault, so that it can be corrected. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

/** All settings in the order of `--help`. */
export const settings: readonly Setting<unknown>[] = flatten(table);

export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads every setting: from its flag, else its variable, else the default.
 *
 * Fails with ConfigError naming the variable and the flag.
 */
export function readConfig(flags: Flags, environment: Environment = process.env): Config {
  const read = readTable(table, flags, environment) as Read;
  return Object.freeze({
    ...read,
    bodyBytesMax: Object.freeze({ ...read.bodyBytesMax, open: bodyBytesMaxDefault.open }),
    oidc: completeOidc(read),
    isTracing: read.isTracing || read.ownTracesEndpoint !== undefined,
    operatorProviders: addUsualProviders(read.operatorProviders, environment),
    path: environment["PATH"] ?? "",
  });
}

/** Returns the key of commands that call a running service, if the environment has one. */
export function readApiKey(): string | undefined {
  return process.env["WAGGLE_API_KEY"];
}

/** Settings whose variables have their usual names without a prefix. */
const namedElsewhere = /^(database-url|otel-.+|temporal-(?!ui-).+)$/;

/** Returns the variable of a flag: DATABASE_URL, OTEL_…, TEMPORAL_…, else WAGGLE_ and its name. */
export function variableOf(flag: string): string {
  const variable = flag.toUpperCase().replaceAll("-", "_");
  return namedElsewhere.test(flag) ? variable : `WAGGLE_${variable}`;
}

/** Refuses an incomplete identity provider, which would fail only at the first sign-in. */
function completeOidc({ oidc, publicUrl }: Read): OidcConfig | undefined {
  const { issuer, clientId, clientSecret } = oidc;
  if (issuer === undefined && clientId === "" && clientSecret === "") return undefined;
  const needed = [
    [table.oidc.issuer, issuer],
    [table.oidc.clientId, clientId],
    [table.oidc.clientSecret, clientSecret],
    [table.publicUrl, publicUrl],
  ] as const;
  const missing = needed.filter(([, value]) => (value ?? "") === "");
  if (issuer === undefined || missing.length > 0) {
    const names = missing.map(([{ flag }]) => `${variableOf(flag)} (--${flag})`).join(", ");
    throw new ConfigError(`sign-in through an identity provider also needs ${names}`);
  }
  return Object.freeze({ ...oidc, issuer });
}

/** Returns all providers; one of `named` replaces one of the same name from variables. */
function addUsualProviders(
  named: readonly OperatorProvider[],
  environment: Environment,
): readonly OperatorProvider[] {
  try {
    const usual = readProviderVariables(environment);
    const others = usual.filter(({ name }) => !named.some((one) => one.name === name));
    return Object.freeze([...named, ...others]);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

function flatten(entries: Table): readonly Setting<unknown>[] {
  return Object.values(entries).flatMap((one) => (isSetting(one) ? [one] : flatten(one)));
}

function readTable(entries: Table, flags: Flags, environment: Environment): object {
  const read = Object.entries(entries).map(([name, one]) => [
    name,
    isSetting(one) ? readSetting(one, flags, environment) : readTable(one, flags, environment),
  ]);
  return Object.freeze(Object.fromEntries(read) as object);
}

function isSetting(one: Setting<unknown> | Table): one is Setting<unknown> {
  return typeof one["parse"] === "function";
}

function readSetting(
  { flag, fallback, parse }: Setting<unknown>,
  flags: Flags,
  environment: Environment,
): unknown {
  const variable = variableOf(flag);
  const value = flags[flag];
  const given = typeof value === "string" ? value : environment[variable];
  try {
    // A shell or a compose file unsets a variable by setting it to the empty text.
    return Object.freeze(parse(given || fallback));
  } catch (error) {
    throw new ConfigError(`${variable} (--${flag}) ${(error as Error).message}`);
  }
}

function setting<T>(
  flag: string,
  help: string,
  parse: (text: string) => T,
  fallback = "",
): Setting<T> {
  return { flag, help, parse, fallback };
}

/** Returns the setting of a whole number within bounds, both inclusive. */
function whole(
  flag: string,
  help: string,
  fallback: number,
  [min, max]: readonly [min: number, max: number],
): Setting<number> {
  return setting(flag, help, wholeNumber(min, max), String(fallback));
}

function bytes(flag: string, help: string, fallback: number): Setting<number> {
  return whole(flag, help, fallback, [1, bytesMax]);
}
