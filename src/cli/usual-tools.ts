/** The tools that `offshoot run` offers here if no flag names any. */

import type { Config } from "../runtime/config/config.ts";
import { pickTools } from "../runtime/pick-tools.ts";
import type { Runtime } from "../runtime/runtime.ts";

/** Starts no MCP server: if the setting names their tools, those are left out. */
export async function usualToolsHere(
  config: Pick<Config, "get">,
  runtime: Pick<Runtime, "toolNames" | "usualHere">,
): Promise<readonly string[]> {
  const { toolNames, usualHere } = runtime;
  const named = config.get("tools")?.filter((pattern) => !isRemote(pattern));
  const here = { toolNames, listTools: async () => toolNames, usualTools: async () => usualHere };
  return await pickTools(named, here);
}

/**
 * True if it may be the tool of an MCP server: their tools are known only when they are started.
 */
export function isRemote(tool: string): boolean {
  return tool.includes("__");
}
