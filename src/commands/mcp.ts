// `waggle mcp`: a Model Context Protocol server on standard input and output, through which an
// agent reads the traces of one project with the permissions of its key.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { JsonObject } from "../base/json.ts";
import { packageVersion } from "../base/package-version.ts";
import type { CommandContext } from "./command.ts";
import { type Reading, readingInput } from "./mcp/reading.ts";
import { shortenAnswer } from "./mcp/shorten.ts";
import { tools } from "./mcp/tools.ts";
import { readCallOptions } from "./service-call.ts";
import { createServiceClient, type ServiceClient } from "./service-client.ts";

/** Runs until the agent closes standard input. */
export async function runMcp({ config, flags }: CommandContext): Promise<number> {
  const service = createServiceClient(await readCallOptions(config, flags));
  serveStdio(() => createServer(service));
  await new Promise<void>((resolve) => process.stdin.once("close", resolve).once("end", resolve));
  return 0;
}

function createServer(service: ServiceClient): McpServer {
  const server = new McpServer(
    { name: "waggle", version: packageVersion() },
    { capabilities: { tools: {} } },
  );
  for (const { name, title, description, input, toCall } of tools) {
    const inputSchema = input.extend(readingInput);
    const about = { title, description, inputSchema, annotations: { readOnlyHint: true } };
    server.registerTool(name, about, async (given) => {
      const { path, text_from, items_from, ...asked } = given as Reading & JsonObject;
      try {
        const answer = await service.read(toCall(asked as never));
        const text = shortenAnswer(answer, { path, text_from, items_from });
        return { content: [{ type: "text", text }] };
      } catch (error) {
        const { message } = error as Error;
        return { content: [{ type: "text", text: message }], isError: true };
      }
    });
  }
  return server;
}
