// DeploymentService: the deployment from memory, without a query. Source: docs/decisions.md, 58.1.

import type { ServiceImpl } from "@connectrpc/connect";
import type { DeploymentService } from "../../../gen/waggle/v1/deployment_pb.js";
import { principalKey } from "../../access/call.ts";
import type { TemporalPage } from "./temporal-page.ts";

export type DeploymentOptions = {
  readonly version: string;
  readonly publicOrigin: string | undefined;
  readonly dataplaneAssignment: "automatic" | "manual";
  /** Identity provider; undefined: people sign in by one-time links. */
  readonly provider: { readonly issuer: string } | undefined;
  /** Paths where a sign-in begins. */
  readonly paths: { readonly provider: string; readonly link: string };
  readonly temporalPage: Pick<TemporalPage, "url">;
};

export function deploymentHandlers({
  version,
  publicOrigin,
  dataplaneAssignment,
  provider,
  paths,
  temporalPage,
}: DeploymentOptions): ServiceImpl<typeof DeploymentService> {
  const signIn = provider
    ? { kind: "provider", providerName: new URL(provider.issuer).host, path: paths.provider }
    : { kind: "link", path: paths.link };
  const publicUrl = publicOrigin === undefined ? {} : { publicUrl: publicOrigin };
  const shown = { version, signIn, dataplaneAssignment, ...publicUrl };
  return {
    getDeployment(_request, { values }) {
      const isPerson = values.get(principalKey)?.kind === "user";
      const temporalUiUrl = isPerson ? temporalPage.url() : undefined;
      return {
        success: true,
        data: { ...shown, ...(temporalUiUrl !== undefined && { temporalUiUrl }) },
      };
    },
  };
}
