/**
 * Agents of yours as tools of an MCP server, called by a program with the MCP SDK's client. Claude Code, codex and
 * editors call it in the same way (docs/mcp-serve.md). It needs `offshoot` on the path, or its address as the first
 * argument. In a clone: `node scripts/compile.js && npm run build`, then
 * `node build/examples/mcp-server.js dist/bin/cli.js`.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

/** `expose: mcp` offers the agent as the tool `agent_calculator`. */
const AGENT = `---
name: calculator
description: Computes an expression.
model: embedded/offline
tools: []
expose: mcp
---
You compute.
`;

interface Start {
  /** The program and its first arguments, such as `["offshoot"]`. */
  readonly command: readonly string[];
  /** The home folder with the agent's file. */
  readonly home: string;
}

/** Returns the names of the tools and the agent's answer. */
export async function askCalculator({ command, home }: Start): Promise<readonly string[]> {
  const agents = join(home, ".config", "offshoot", "agents");
  await mkdir(agents, { recursive: true });
  await writeFile(join(agents, "calculator.md"), AGENT);
  const [program = "offshoot", ...args] = command;
  const transport = new StdioClientTransport({
    command: program,
    args: [...args, "mcp", "serve"],
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
  });
  const client = new Client({ name: "example", version: "1.0.0" });
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    const asked = { name: "agent_calculator", arguments: { prompt: "compute 6*7" } };
    const { content } = await client.callTool(asked);
    const [part] = content as { text: string }[];
    return [tools.map(({ name }) => name).join(" "), part?.text ?? ""];
  } finally {
    await client.close();
  }
}

const [, program, cli] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const command = cli === undefined ? ["offshoot"] : [process.execPath, cli];
  const home = process.env["HOME"] ?? ".";
  for (const line of await askCalculator({ command, home })) console.log(line);
}
