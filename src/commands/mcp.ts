// `waggle mcp`: a Model Context Protocol server on standard input and output, through which an
// agent reads the traces of one project with the permissions of its key.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { JsonObject } from "../base/json.ts";
import { packageVersion } from "../base/package-version.ts";
import { OperatorError } from "../base/operator-error.ts";
import type { CommandContext } from "./command.ts";
import { type Reading, readingInput } from "./mcp/reading.ts";
import { shortenAnswer } from "./mcp/shorten.ts";
import { tools } from "./mcp/tools.ts";
import { readCallOptions } from "./service-call.ts";
import { createServiceClient, type ServiceClient } from "./service-client.ts";

export const usage = `usage:
  waggle mcp
      serves the Model Context Protocol on standard input and output, until standard input ends.
      --url, and --key-file or WAGGLE_API_KEY, say where and with which key.`;

/** Runs until the agent closes standard input. */
export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  if (operands.length > 0) throw new OperatorError(`waggle mcp takes no ${operands[0]}`);
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
        const text = toAdvice((error as Error).message);
        return { content: [{ type: "text", text }], isError: true };
      }
    });
  }
  return server;
}

/** Says what an agent can do where the service's own words name calls that are no tools. */
function toAdvice(message: string): string {
  if (!message.includes("POST /v1/events/stream")) return message;
  return `${message}. With these tools: ask for fewer events at once, or name fewer fields`;
}
