// `waggle mcp`: a Model Context Protocol server on standard input and output, through which an
// agent reads the traces of one project with the permissions of its key.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { packageVersion } from "../base/package-version.ts";
import type { CommandContext } from "./command.ts";
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
    const about = { title, description, inputSchema: input, annotations: { readOnlyHint: true } };
    server.registerTool(name, about, async (given) => {
      try {
        const text = shortenAnswer(await service.read(toCall(given as never)), given);
        return { content: [{ type: "text", text }] };
      } catch (error) {
        const { message } = error as Error;
        return { content: [{ type: "text", text: message }], isError: true };
      }
    });
  }
  return server;
}
