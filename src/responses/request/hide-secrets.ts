/** Tools in the form in which they are shown again: without the secrets of other servers. */

import type { McpTool } from "../../protocol/hosted-kinds/mcp.ts";
import type { Tool } from "../../protocol/tools.ts";
import { SEALED_FIELD } from "./seal-tools.ts";

interface Sealed {
  readonly [SEALED_FIELD]?: unknown;
}

export function hideSecrets(tool: Tool): Tool {
  if (tool.type !== "mcp") return tool;
  const { authorization: _, headers, [SEALED_FIELD]: __, ...shown } = tool as McpTool & Sealed;
  if (!headers) return shown;
  const hidden = Object.fromEntries(Object.keys(headers).map((name) => [name, "<redacted>"]));
  return { ...shown, headers: hidden };
}
