// Flags and environment variables.

import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";

describe("readConfig", () => {
  test("listens on 127.0.0.1:8080 and keeps data in ./data by default", () => {
    const { host, port, dataFolder, databaseUrl } = readConfig({}, {});

    expect({ host, port, dataFolder, databaseUrl }).toEqual({
      host: "127.0.0.1",
      port: 8080,
      dataFolder: "./data",
      databaseUrl: undefined,
    });
  });

  test("has the body limits of the specification", () => {
    expect(readConfig({}, {}).bodyBytesMax).toEqual({
      record: 7_340_032,
      batch: 64_000_000,
      traces: 52_428_800,
      other: 5_000_000,
      anonymous: 1_000_000,
      open: 4_096,
    });
  });

  test("prefers a flag to its variable", () => {
    const environment = { WAGGLE_PORT: "1", WAGGLE_HOST: "::" };

    const { host, port } = readConfig({ port: "2" }, environment);

    expect({ host, port }).toEqual({ host: "::", port: 2 });
  });

  test("takes an empty variable for an absent one", () => {
    expect(readConfig({}, { DATABASE_URL: "", WAGGLE_PORT: "" }).port).toBe(8080);
  });

  test("splits origins at commas", () => {
    const { corsOrigins } = readConfig({ "cors-origins": "https://a.example, https://b.example" });

    expect(corsOrigins).toEqual(["https://a.example", "https://b.example"]);
  });

  test("reads origins in the form in which browsers send them", () => {
    const origins = "https://App.example:443/, http://localhost:3000, chrome-extension://abc, *";

    expect(readConfig({ "cors-origins": origins }, {}).corsOrigins).toEqual([
      "https://app.example",
      "http://localhost:3000",
      "chrome-extension://abc",
      "*",
    ]);
  });

  test.each([
    "app.example",
    "https://app.example/page",
    "https://a.example https://b.example",
    "localhost:3000",
    "https://*.app.example",
  ])("refuses %s as an origin, which no browser sends", (origin) => {
    expect(() => readConfig({ "cors-origins": origin }, {})).toThrow(
      `WAGGLE_CORS_ORIGINS (--cors-origins) must list scheme and host alone`,
    );
  });

  test.each(["secret%", "secret%zz", "secret%ff"])(
    "refuse the Postgres password %j",
    (password) => {
      const read = () => readConfig({ "database-url": `postgres://u:${password}@h/db` }, {});

      expect(read).toThrow("DATABASE_URL (--database-url) must be a URL such as postgres://");
      expect(read).toThrow("%25 for a %");
      expect(read).not.toThrow("secret");
    },
  );

  test("take the default of libpq's target_session_attrs, which the driver does not know", () => {
    const url = "postgres://u:p@h/db?target_session_attrs=any&host=/run";

    expect(readConfig({ "database-url": url }, {}).databaseUrl).toBe(
      "postgres://u:p@h/db?host=%2Frun",
    );
  });

  test.each(["nobody", "<a@b", "a@b\r\nBcc: <c@d>", "<a@b> <c@d>"])(
    "refuse the sender %j",
    (from) => {
      expect(() => readConfig({}, { WAGGLE_SMTP_FROM: from })).toThrow(
        "WAGGLE_SMTP_FROM (--smtp-from) must be an e-mail address",
      );
    },
  );

  test.each(["a@b", "<a@b>", "Waggle, the bees <waggle@example.org>", '"W" <a@b>'])(
    "take the sender %j",
    (from) => {
      expect(readConfig({}, { WAGGLE_SMTP_FROM: from }).smtpFrom).toBe(from);
    },
  );

  test("reads clusters from a JSON object", () => {
    const clusters = { eu: "postgres://u:p@eu/db", "us-1_b": "postgresql:///db?host=/run" };

    expect(readConfig({}, {}).clusters).toEqual({});
    expect(readConfig({ clusters: JSON.stringify(clusters) }, {}).clusters).toEqual(clusters);
  });

  test.each([
    { value: "postgres://u:secret@h/db", want: "must be a JSON object" },
    { value: '{"eu": "postgres://u:secret@h/db"', want: "must be a JSON object" },
    { value: '["postgres://u:secret@h/db"]', want: "must be a JSON object" },
    { value: "null", want: "must be a JSON object" },
    { value: '{"EU": "postgres://u:secret@h/db"}', want: "must have ids of 1 to 64" },
    { value: '{"": "postgres://u:secret@h/db"}', want: "must have ids of 1 to 64" },
    { value: `{"${"a".repeat(65)}": "postgres://u:secret@h/db"}`, want: "must have ids of" },
    { value: '{"eu": "mysql://u:secret@h/db"}', want: "of eu must be a URL such as postgres://" },
    { value: '{"eu": "postgres://u:secret@h:port/db"}', want: "of eu must be a URL" },
    { value: '{"eu": "postgres://u:secret%@h/db"}', want: "of eu must be a URL" },
    { value: '{"eu": {"url": "postgres://u:secret@h/db"}}', want: "of eu must be a URL" },
  ])("refuses clusters $value, without its password", ({ value, want }) => {
    const read = () => readConfig({}, { WAGGLE_CLUSTERS: value });

    expect(read).toThrow(`WAGGLE_CLUSTERS (--clusters) ${want}`);
    expect(read).not.toThrow("secret");
  });

  test("bounds the number of clusters", () => {
    const ids = Array.from({ length: 65 }, (_, index) => [`c${index}`, "postgres://h/db"]);
    const clusters = JSON.stringify(Object.fromEntries(ids));

    expect(() => readConfig({ clusters }, {})).toThrow("at most 64 clusters");
  });

  test("cannot be changed", () => {
    const config = readConfig({}, {});

    expect(() => Object.assign(config, { port: 1 })).toThrow();
    expect(() => Object.assign(config.bodyBytesMax, { record: 1 })).toThrow();
  });

  test.each([
    { variable: "WAGGLE_PORT", value: "x", want: "WAGGLE_PORT (--port) must be a whole number" },
    { variable: "WAGGLE_PORT", value: "65536", want: "from 0 to 65535" },
    { variable: "WAGGLE_PORT", value: "-1", want: "from 0 to 65535" },
    { variable: "WAGGLE_PORT", value: "1e3", want: "WAGGLE_PORT" },
    { variable: "WAGGLE_TRACING", value: "yes", want: "must be one of on, off" },
    { variable: "WAGGLE_LOG_LEVEL", value: "loud", want: "WAGGLE_LOG_LEVEL" },
    { variable: "WAGGLE_KEY_CACHE_AGE_MS", value: "60001", want: "WAGGLE_KEY_CACHE_AGE_MS" },
    { variable: "DATABASE_URL", value: "mysql://x", want: "DATABASE_URL (--database-url)" },
  ])("refuses $variable=$value", ({ variable, value, want }) => {
    expect(() => readConfig({}, { [variable]: value })).toThrow(want);
  });

  test("does not repeat a database URL, which may hold a password", () => {
    const read = () => readConfig({}, { DATABASE_URL: "http://me:secret@host/db" });

    expect(read).toThrow(/^(?!.*secret)/);
  });
});

describe("the settings of Temporal", () => {
  test("have the variables that Temporal's own programs read", () => {
    const { temporal } = readConfig(
      { "temporal-namespace": "flag" },
      {
        TEMPORAL_ADDRESS: "waggle.tmprl.cloud:7233",
        TEMPORAL_NAMESPACE: "variable",
        TEMPORAL_API_KEY: "key",
        TEMPORAL_TLS: "true",
        TEMPORAL_CLI_PATH: "/bin/temporal",
      },
    );

    expect(temporal).toMatchObject({
      address: "waggle.tmprl.cloud:7233",
      namespace: "flag",
      apiKey: "key",
      tls: true,
      cliPath: "/bin/temporal",
    });
  });

  test.each(["http://host:7233", "host", "host:port", "host:0", "host:65536"])(
    "refuse the address %s",
    (address) => {
      const read = () => readConfig({}, { TEMPORAL_ADDRESS: address });

      expect(read).toThrow("TEMPORAL_ADDRESS (--temporal-address) must be host:port");
    },
  );
});
