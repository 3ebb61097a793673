// The cases of golden.test.ts on the deployment and on archivals.
// Source: docs/decisions.md, 58.1, 58.2.

import type { JsonObject } from "@bufbuild/protobuf";
import { ArchivalService } from "../../gen/waggle/v1/archival_pb.js";
import { DeploymentService } from "../../gen/waggle/v1/deployment_pb.js";
import { type Case, golden, type Request } from "./golden-case.ts";

const archival = ArchivalService.method;
const deployment = DeploymentService.method;
const archived: Request = { route: "DELETE /v1/projects/{project_id}" };
const ofProject: JsonObject = { scope_type: "project", scope_id: "{project_id}" };
const oneArchival = "GET /v1/archivals/project/{project_id}";

export const administrationCases: readonly Case[] = [
  golden("get-v1-deployment/without-a-key", "GET /v1/deployment", deployment.getDeployment, {
    key: "none",
    message: {},
  }),
  golden("get-v1-archival/of-a-project", oneArchival, archival.getArchival, {
    key: "controlPlane",
    given: [archived],
    message: ofProject,
  }),
  golden("get-v1-archival/of-an-active-project", oneArchival, archival.getArchival, {
    key: "controlPlane",
    message: ofProject,
  }),
  golden(
    "get-v1-archivals/of-an-organization",
    "GET /v1/archivals?org_id={org_id}",
    archival.listArchivals,
    { key: "controlPlane", given: [archived], message: { org_id: "{org_id}" } },
  ),
];
