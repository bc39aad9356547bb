/** A hub for tests: nothing of the user's, files in memory, problems kept. */

import { systemClock } from "../../../src/base/clock.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createMcpHub, type McpHub, type McpParts } from "../../../src/tools/mcp/hub.ts";
import type { KeptText } from "../../../src/tools/mcp/kept-map.ts";
import { parseMcpServers } from "../../../src/tools/mcp/server.ts";
import type { Tool, ToolContext, ToolOutput } from "../../../src/tools/tool.ts";
import { PATIENCE_MS, patience } from "../../patience.ts";

export interface TestHub extends AsyncDisposable {
  readonly hub: McpHub;
  readonly problems: string[];
  readonly pins: MemoryText;
  readonly logins: MemoryText;
  /** Calls a tool by its full name, like a gate that allows everything. */
  call(name: string, input?: JsonObject, signal?: AbortSignal): Promise<unknown>;
}

export interface MemoryText extends KeptText {
  text: string | undefined;
}

export function createMemoryText(): MemoryText {
  const kept: MemoryText = {
    text: undefined,
    read: async () => kept.text,
    async write(text) {
      kept.text = text;
    },
  };
  return kept;
}

export function createTestHub(servers: JsonObject, parts: Partial<McpParts> = {}): TestHub {
  const problems: string[] = [];
  const pins = createMemoryText();
  const logins = createMemoryText();
  const hub = createMcpHub({
    servers: parseMcpServers(servers),
    env: { PATH: process.env["PATH"] },
    root: "/tmp",
    connectMs: PATIENCE_MS,
    listMs: PATIENCE_MS,
    pins,
    logins,
    clock: systemClock,
    log: silentLog,
    version: "0.0.0",
    onProblem: (problem) => problems.push(problem),
    ...parts,
  });
  let tools: Promise<Tool[]> | undefined;
  return {
    hub,
    problems,
    pins,
    logins,
    async call(name, input = {}, signal = patience()) {
      tools ??= hub.tools();
      const tool = (await tools).find(({ spec }) => spec.name === name);
      if (!tool) throw new Error(`no tool ${name}`);
      await tool.pin?.standing();
      await tool.pin?.agree();
      return runTool(tool, input, signal);
    },
    [Symbol.asyncDispose]: () => hub.close(),
  };
}

/** Parses and runs; a remote tool uses only the signal of its context. */
export function runTool(
  tool: Tool,
  input: JsonObject,
  signal: AbortSignal = patience(),
): Promise<string | ToolOutput | unknown> {
  return tool.run(tool.parse(input), { signal } as ToolContext);
}
