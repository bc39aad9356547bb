/** The kinds of tools that requests may name, joined with what this runtime runs them with. */

import { backKind, type FindBacking } from "../kinds/backed-kind.ts";
import { CUSTOM_KIND } from "../kinds/custom.ts";
import { createMcpKind, type McpKindParts, NO_SERVERS } from "../kinds/mcp.ts";
import type { ToolKind } from "../kinds/tool-kind.ts";
import { MULTI_AGENT_KIND } from "../multi-agent/team-kind.ts";
import { createMachineKinds, type MachineParts } from "./machine-kinds.ts";

export interface KindParts {
  /** Those that search, as `openSearch` makes them; without them such tools are left out. */
  readonly search?: readonly ToolKind[] | undefined;
  /** What works on a machine: code, shells, patches, pictures. */
  readonly machine?: MachineParts | undefined;
  /** How MCP servers are reached; where it is left out there are none but this one. */
  readonly connectMcp?: McpKindParts["connect"] | undefined;
  /** Tools that stand behind kinds in place of the server's own. */
  readonly findBacking?: FindBacking | undefined;
}

export function createKinds(parts: KindParts = {}): ToolKind[] {
  const { connectMcp = NO_SERVERS, machine = {}, search = [], findBacking } = parts;
  const own = [...createMachineKinds({ ...machine, findBacking }), ...search];
  return [
    CUSTOM_KIND,
    createMcpKind({ connect: connectMcp }),
    MULTI_AGENT_KIND,
    ...(findBacking ? own.map((kind) => backKind(kind, findBacking)) : own),
  ];
}
