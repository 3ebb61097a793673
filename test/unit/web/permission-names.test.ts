// The permissions that the web app offers for a key.

import { expect, test } from "vitest";
import { permissionsOf } from "../../../src/web/app/pages/settings/permission-names.ts";

test("a permission of several levels is offered for the levels that have a call of it", () => {
  const operation = { "x-permission": "{scope}.key.list" };
  const names = permissionsOf({
    paths: {
      "/v1/orgs/{org_id}/keys": { get: operation },
      "/v1/projects/{project_id}/keys": { get: operation, post: {} },
      "/v1/events/{event_id}": { get: { "x-permission": "project.event.get" } },
    },
  });

  expect(names).toEqual(["org.key.list", "project.event.get", "project.key.list"]);
});
