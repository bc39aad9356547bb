/** The kinds of tools that requests may name, with the parts of this runtime that run them. */

import { backKind, type FindBacking } from "../kinds/backed-kind.ts";
import { CUSTOM_KIND } from "../kinds/custom.ts";
import { createMcpKind, type McpKindParts, NO_SERVERS } from "../kinds/mcp.ts";
import type { ToolKind } from "../kinds/tool-kind.ts";
import { MULTI_AGENT_KIND } from "../multi-agent/team-kind.ts";
import { createMachineKinds, type MachineParts } from "./machine-kinds.ts";

export interface KindParts {
  /** Kinds that search, as made by `openSearch`; without them such tools are left out. */
  readonly search?: readonly ToolKind[] | undefined;
  /** The parts that work on a machine: code, shells, patches, pictures. */
  readonly machine?: MachineParts | undefined;
  /** Connects MCP servers; when left out, only this server's own tools are available. */
  readonly connectMcp?: McpKindParts["connect"] | undefined;
  /** Tools that replace the server's own for a kind. */
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
