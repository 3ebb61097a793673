// Every service of ours, for tests about all rpcs. test/tidy.test.ts checks that no proto with a
// service is missing.

import type { DescFile, DescMethod } from "@bufbuild/protobuf";
import { file_waggle_compat_v0_metric } from "../../gen/waggle/compat/v0/metric_pb.js";
import { file_waggle_compat_v0_tracing } from "../../gen/waggle/compat/v0/tracing_pb.js";
import { file_waggle_v1_api_key } from "../../gen/waggle/v1/api_key_pb.js";
import { file_waggle_v1_audit } from "../../gen/waggle/v1/audit_pb.js";
import { file_waggle_v1_backfill } from "../../gen/waggle/v1/backfill_pb.js";
import { file_waggle_v1_dataplane } from "../../gen/waggle/v1/dataplane_pb.js";
import { file_waggle_v1_evaluator } from "../../gen/waggle/v1/evaluator_pb.js";
import { file_waggle_v1_event } from "../../gen/waggle/v1/event_pb.js";
import { file_waggle_v1_export } from "../../gen/waggle/v1/export_pb.js";
import { file_waggle_v1_feedback } from "../../gen/waggle/v1/feedback_pb.js";
import { file_waggle_v1_generation } from "../../gen/waggle/v1/generation_pb.js";
import { file_waggle_v1_llm_proxy } from "../../gen/waggle/v1/llm_proxy_pb.js";
import { file_waggle_v1_me } from "../../gen/waggle/v1/me_pb.js";
import { file_waggle_v1_member } from "../../gen/waggle/v1/member_pb.js";
import { file_waggle_v1_metric } from "../../gen/waggle/v1/metric_pb.js";
import { file_waggle_v1_metric_version } from "../../gen/waggle/v1/metric_version_pb.js";
import { file_waggle_v1_model_alias } from "../../gen/waggle/v1/model_alias_pb.js";
import { file_waggle_v1_organization } from "../../gen/waggle/v1/organization_pb.js";
import { file_waggle_v1_project } from "../../gen/waggle/v1/project_pb.js";
import { file_waggle_v1_provider_credential } from "../../gen/waggle/v1/provider_credential_pb.js";
import { file_waggle_v1_session } from "../../gen/waggle/v1/session_pb.js";
import { file_waggle_v1_workspace } from "../../gen/waggle/v1/workspace_pb.js";

export const protoFiles: readonly DescFile[] = [
  file_waggle_compat_v0_metric,
  file_waggle_compat_v0_tracing,
  file_waggle_v1_api_key,
  file_waggle_v1_audit,
  file_waggle_v1_backfill,
  file_waggle_v1_dataplane,
  file_waggle_v1_evaluator,
  file_waggle_v1_event,
  file_waggle_v1_export,
  file_waggle_v1_feedback,
  file_waggle_v1_generation,
  file_waggle_v1_llm_proxy,
  file_waggle_v1_me,
  file_waggle_v1_member,
  file_waggle_v1_metric,
  file_waggle_v1_metric_version,
  file_waggle_v1_model_alias,
  file_waggle_v1_organization,
  file_waggle_v1_project,
  file_waggle_v1_provider_credential,
  file_waggle_v1_session,
  file_waggle_v1_workspace,
];

export const rpcs: readonly DescMethod[] = protoFiles
  .flatMap((file) => file.services)
  .flatMap((service) => service.methods);
