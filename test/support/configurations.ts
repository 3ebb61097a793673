// Configurations in the whole service, for tests of their routes.

import { createUuid } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { Tenant } from "./tenants.ts";

/** Configuration that published clients send. */
export const aConfiguration = {
  name: "greeting",
  provider: "openai",
  parameters: { call_type: "chat", model: "gpt-4o-mini" },
} as const;

/** Adds a configuration with two versions to a tenant by SQL, and returns its id. */
export async function addConfiguration(database: Database, tenant: Tenant): Promise<string> {
  const id = createUuid();
  const { provider } = aConfiguration;
  const template = [{ role: "user", content: "Hello" }];
  const parameters = { ...aConfiguration.parameters, template };
  const content = JSON.stringify({ type: "LLM", provider, parameters, userProperties: {} });
  await database.transaction(async (sql) => {
    await sql`
      insert into configurations (configuration_id, project_id, name, last_version, created_by)
      values (${id}, ${tenant.projectId}, ${`stored-${id}`}, 2, 'test')`;
    for (const version of [1, 2]) {
      await sql`
        insert into configuration_versions (
          configuration_id, version, content, tags, full_sha, message, created_by
        )
        values (${id}, ${version}, ${content}::text::json, '{}', '', '', 'test')`;
    }
  });
  return id;
}

/** Adds a tool to a tenant by SQL, and returns its id. */
export async function addTool(database: Database, tenant: Tenant): Promise<string> {
  const id = createUuid();
  await database.sql()`
    insert into tools (
      tool_id, project_id, name, description, tool_type, parameters, created_by
    )
    values (${id}, ${tenant.projectId}, ${`stored-${id}`}, '', 'function', '{}', 'test')`;
  return id;
}
