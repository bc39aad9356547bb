/**
 * A run that uses the tools of an MCP server. This file is also that server, so that the example is complete. In a
 * clone: `node scripts/compile.js`, then `node build/examples/mcp-client.js`. On the command line
 * `offshoot mcp add NAME -- COMMAND` does the same.
 */

import { fileURLToPath } from "node:url";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createRuntime } from "offshoot";
import { z } from "zod";

const FILE = fileURLToPath(import.meta.url);

/** Keeps approvals while the program runs. A program that must remember them writes them to a file. */
function createMemory() {
  let text: string | undefined;
  return {
    read: async () => text,
    write: async (written: string) => {
      text = written;
    },
  };
}

/** Starts the server as a process of its own and lets a run call its tool `tide`. */
export async function askForTide(harbour: string): Promise<string> {
  const runtime = await createRuntime({
    toolSettings: {
      mcp: {
        servers: [
          {
            name: "sea",
            reach: { kind: "stdio", command: process.execPath, args: [FILE, "serve"], env: {} },
            tools: ["*"],
            timeoutMs: 60_000,
            enabled: true,
          },
        ],
        root: process.cwd(),
        pins: createMemory(),
        logins: createMemory(),
        onProblem: (problem) => console.error(problem),
      },
    },
    // The tool of another program needs approval before its first call, and again when its description has
    // changed.
    ask: async ({ tool }) => (tool === "mcp__sea__tide" ? "yes" : "no"),
  });
  try {
    const run = await runtime.run({
      model: "embedded/offline",
      input: `use the mcp__sea__tide tool with {"harbour": "${harbour}"}`,
      tools: ["mcp__sea__tide"],
    });
    return (await run.result()).output_text;
  } finally {
    await runtime.close();
  }
}

/** The server: one tool, over standard input and output. */
async function serve(): Promise<void> {
  const server = new McpServer({ name: "sea", version: "1.0.0" });
  const inputSchema = { harbour: z.string() };
  server.registerTool(
    "tide",
    { description: "When the tide is high.", inputSchema },
    ({ harbour }) => ({
      content: [{ type: "text", text: `${harbour}: high tide at 14:20` }],
    }),
  );
  await server.connect(new StdioServerTransport());
}

if (process.argv[1] === FILE) {
  if (process.argv[2] === "serve") await serve();
  else console.log(await askForTide("Bergen"));
}
