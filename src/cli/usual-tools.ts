/** The tools that `offshoot run` offers here when no flag names any. */

import type { Config } from "../runtime/config/config.ts";
import { pickTools } from "../runtime/pick-tools.ts";
import type { Runtime } from "../runtime/runtime.ts";

/** Starts no MCP server: of what the setting names, their tools are left out. */
export async function usualToolsHere(
  config: Pick<Config, "get">,
  runtime: Pick<Runtime, "toolNames" | "usualHere">,
): Promise<readonly string[]> {
  const { toolNames, usualHere } = runtime;
  const named = config.get("tools")?.filter((pattern) => !isRemote(pattern));
  const here = { toolNames, listTools: async () => toolNames, usualTools: async () => usualHere };
  return await pickTools(named, here);
}

/** Whether it may be the tool of an MCP server: which those have is known when they are started. */
export function isRemote(tool: string): boolean {
  return tool.includes("__");
}
