/**
 * The tools that runs may name: the built-in ones, those of the program that embeds the runtime, the user's own
 * programs, and those of MCP servers, which are started by the first run that names one.
 */

import { isNativeName } from "../agent/native-names.ts";
import type { Clock } from "../base/clock.ts";
import type { Environment } from "../base/environment.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { DELEGATING_TOOLS, isDelegating } from "../delegation/tools/names.ts";
import {
  CATALOGUE_DEFAULTS,
  type CatalogueSettings,
  createCatalogue,
} from "../tools/catalogue/catalogue.ts";
import type { McpHub, McpParts } from "../tools/mcp/hub.ts";
import type { Tool } from "../tools/tool.ts";

export interface ToolSettings extends Partial<CatalogueSettings> {
  /** Programs as tools, a map that `checkOwnTools` has accepted. */
  readonly ownTools?: JsonObject | undefined;
  readonly mcp?: McpToolSettings | undefined;
}

export type McpToolSettings = Pick<
  McpParts,
  "servers" | "root" | "pins" | "logins" | "onProblem" | "trusted"
>;

export interface ToolboxParts extends ToolSettings {
  /** The program's own tools; a tool with the name of a built-in one replaces it. */
  readonly tools: readonly Tool[];
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

export interface Toolbox {
  /** The names of all tools, without those of MCP servers. */
  readonly names: readonly string[];
  /** Includes those of MCP servers. A server that cannot be used is reported and left out. */
  list(): Promise<readonly string[]>;
  /** The names that a run is offered when it names none. */
  usual(): Promise<readonly string[]>;
  /** The usual tools without those of MCP servers: nothing is started for them. */
  readonly usualHere: readonly string[];
  /** Without tools that delegate and native tools. Rejects for an unknown name. */
  pick(names: readonly string[]): Promise<Tool[]>;
  /** Tools as models read them. A tool that is not here (a server's, one that delegates) only by its name. */
  describe(names: readonly string[]): readonly JsonObject[];
  close(): Promise<void>;
}

/** Rejects if one of the user's own tools is invalid. */
export async function createToolbox(parts: ToolboxParts): Promise<Toolbox> {
  const rows = createCatalogue({ ...CATALOGUE_DEFAULTS, ...parts });
  const byName = new Map(rows.map(({ tool }) => [tool.spec.name, tool]));
  for (const tool of parts.tools) byName.set(tool.spec.name, tool);
  const added = [...parts.tools, ...(await openPrograms(parts, [...byName.keys()]))];
  for (const tool of added) byName.set(tool.spec.name, tool);
  const names = [...byName.keys(), ...DELEGATING_TOOLS];
  const usualNames = rows.flatMap(({ tool, isUsual }) => (isUsual ? [tool.spec.name] : []));
  const hub = createHub(parts);

  const namesOf = (some: readonly Tool[]): string[] => some.map(({ spec }) => spec.name);
  const usualHere = [...new Set([...usualNames, ...DELEGATING_TOOLS, ...namesOf(added)])];

  return {
    names,
    usualHere,
    list: async () => [...names, ...namesOf(await hub.tools())],
    async usual() {
      const remote = namesOf(await hub.tools());
      return [...new Set([...usualHere, ...remote])];
    },
    async pick(all) {
      const names = all.filter((name) => !isNativeName(name)).filter((name) => !isDelegating(name));
      const isRemote = names.some((name) => !byName.has(name));
      const remote = isRemote ? await hub.tools() : [];
      const known = new Map([...byName, ...remote.map((tool) => [tool.spec.name, tool] as const)]);
      return names.map((name) => known.get(name) ?? unknownTool(name, [...known.keys()]));
    },
    describe: (all) =>
      all.map((name) => {
        const tool = byName.get(name);
        return tool ? { ...(tool.spec as JsonObject) } : { type: "function", name };
      }),
    close: () => hub.close(),
  };
}

function unknownTool(name: string, known: readonly string[]): never {
  const message = `Unknown tool \`${name}\`. Tools: ${known.join(", ")}.`;
  throw new Failure("invalid_request", message, { param: "tools" });
}

async function openPrograms(
  { ownTools, env }: ToolboxParts,
  taken: readonly string[],
): Promise<Tool[]> {
  if (!ownTools || Object.keys(ownTools).length === 0) return [];
  const { openOwnTools } = await import("../tools/custom/open-own-tools.ts");
  return openOwnTools(ownTools, { env, taken });
}

/** Loaded when there are servers, and opened when their tools are first asked for. */
function createHub({
  mcp,
  env,
  clock,
  log,
  version,
}: ToolboxParts): Pick<McpHub, "tools" | "close"> {
  if (!mcp || mcp.servers.every(({ enabled }) => !enabled)) {
    return { tools: async () => [], close: async () => {} };
  }
  let opened: Promise<McpHub> | undefined;
  const open = (): Promise<McpHub> => {
    opened ??= import("../tools/mcp/hub.ts").then(({ createMcpHub }) =>
      createMcpHub({ ...mcp, env, clock, log, version }),
    );
    return opened;
  };
  return {
    tools: async (...args) => (await open()).tools(...args),
    close: async () => (await opened)?.close(),
  };
}
