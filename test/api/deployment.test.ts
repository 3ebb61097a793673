// What a deployment tells everybody, and what only people who are signed in.
// Source: docs/decisions.md, 58.1.

import { expect, test } from "vitest";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { DeploymentService } from "../../gen/waggle/v1/deployment_pb.js";
import packageJson from "../../package.json" with { type: "json" };
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import { withSignIn } from "../support/tenants.ts";

const service = givenStarted(() =>
  startService({ "temporal-ui-url": "https://temporal.example.org/ui/" }),
);
const behindProvider = givenStarted(() =>
  startService({
    "public-url": publicUrl,
    "oidc-issuer": "https://login.example.org/realms/a",
    "oidc-client-id": "waggle",
    "oidc-client-secret": "secret",
    "dataplane-assignment": "manual",
  }),
);

const publicUrl = "https://waggle.example.org";

async function get(headers: Readonly<Record<string, string>> = {}, { url } = service) {
  const response = await fetch(`${url}/v1/deployment`, { headers });
  return { status: response.status, body: await response.json() };
}

const shown = {
  version: packageJson.version,
  public_url: null,
  sign_in: { kind: "link", provider_name: null, path: "/auth/link" },
  temporal_ui_url: null,
  dataplane_assignment: "automatic",
};

test("everybody sees the version and how people sign in", async () => {
  const want = { status: 200, body: { success: true, data: shown } };

  expect(await get()).toEqual(want);
  expect(await get({ authorization: `Bearer ${service.projectKey}` })).toEqual(want);
  expect(await get({ authorization: "Bearer no-key" })).toEqual(want);
  expect(await get({ cookie: "waggle_session=ended" })).toEqual(want);
});

test("a provider has its host for a name, and the page of its sign-in", async () => {
  const { body } = await get({}, behindProvider);

  expect(body).toMatchObject({
    data: {
      public_url: publicUrl,
      dataplane_assignment: "manual",
      sign_in: { kind: "provider", provider_name: "login.example.org", path: "/auth/sign-in" },
    },
  });
});

test("people who are signed in see where Temporal's page is", async () => {
  const options = { level: "project", role: "project_viewer", origin: service.url } as const;
  const person = await withSignIn(service.database, service.project, options);
  const transport = createConnectTransport({ baseUrl: service.url, httpVersion: "1.1" });
  const client = createClient(DeploymentService, transport);
  const temporalUiUrl = "https://temporal.example.org/ui";

  expect(await get(person)).toMatchObject({ body: { data: { temporal_ui_url: temporalUiUrl } } });
  expect((await client.getDeployment({}, { headers: person })).data).toMatchObject({
    temporalUiUrl,
  });
  expect((await client.getDeployment({})).data?.temporalUiUrl).toBeUndefined();
});

test("its body has the limit of calls without a key", async () => {
  const response = await fetch(`${service.url}/waggle.v1.DeploymentService/GetDeployment`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ unknown: "x".repeat(5_000) }),
  });

  expect(response.status).toBe(429);
  expect(await response.text()).toContain("resource_exhausted");
});
