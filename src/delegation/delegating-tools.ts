/**
 * The delegating tools of a run, made for it alone. Their code, a tenth of what a run could need, is loaded by the
 * first call of one: the gate awaits `load` before it reads a call.
 */

import { Failure } from "../base/failure.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import type { Tool } from "../tools/tool.ts";
import { withAgents } from "./agents/agent-spec.ts";
import type { WatchingNode } from "./background-door.ts";
import type { DelegatingName } from "./tools/names.ts";
import {
  ASK_PARENT_SPEC,
  CALL_SUBAGENT_SPEC,
  countTasks,
  NO_TIMEOUT_MS,
  type SpecSubject,
  SUBAGENT_SPEC,
  SUBAGENTS_SPEC,
  TASK_SPEC,
  toParallelSpec,
} from "./tools/specs.ts";

/** The properties of a tool that the gate reads before it looks at a call. */
type LightTool = Pick<Tool, "spec" | "readOnly" | "countChildren">;

type CreateTool = (node: WatchingNode) => Tool;

interface Row {
  readonly describe: (node: WatchingNode) => LightTool;
  readonly load: () => Promise<CreateTool>;
}

/** Children of one turn run at the same time. */
const BESIDE = { readOnly: true, countChildren: () => 1 };

const TOOLS: Partial<Record<DelegatingName, Row>> = {
  subagent: {
    describe: ({ background, agents }) => ({
      spec: withAgents(background ? SUBAGENT_SPEC : TASK_SPEC, agents),
      ...BESIDE,
    }),
    load: async () => (await import("./tools/subagent.ts")).createSubagentTool,
  },
  call_subagent: {
    describe: () => ({ spec: CALL_SUBAGENT_SPEC, ...BESIDE }),
    load: async () => (await import("./tools/call-subagent.ts")).createCallSubagentTool,
  },
  parallel_subagent: {
    describe: (node) => ({ spec: toParallelSpec(node), ...BESIDE, countChildren: countTasks }),
    load: async () => (await import("./tools/parallel-subagent.ts")).createParallelSubagentTool,
  },
};

/** Offered with `subagent` if children may be left in the background. */
const WATCHING: Row = {
  // What the turn asked for before it is done before it.
  describe: () => ({ spec: SUBAGENTS_SPEC, readOnly: false }),
  load: async () => (await import("./tools/subagents.ts")).createSubagentsTool,
};

/** The descriptions of all delegating tools for a model. */
export function listDelegatingSpecs(about: SpecSubject): FunctionTool[] {
  return [
    ...[withAgents(SUBAGENT_SPEC, about.agents), CALL_SUBAGENT_SPEC, toParallelSpec(about)],
    ...[SUBAGENTS_SPEC, ASK_PARENT_SPEC],
  ];
}

/** Makes the delegating ones of a run's tools, chosen by name. */
export function createDelegatingTools(node: WatchingNode, names: readonly string[]): Tool[] {
  const own = Object.entries(TOOLS).flatMap(([name, row]) =>
    names.includes(name) ? [createLateTool(node, row)] : [],
  );
  const isWatching = names.includes("subagent") && node.background !== undefined;
  return isWatching ? [...own, createLateTool(node, WATCHING)] : own;
}

function createLateTool(node: WatchingNode, { describe, load }: Row): Tool {
  let tool: Tool | undefined;
  const open = async (): Promise<Tool> => {
    tool ??= (await load())(node);
    return tool;
  };
  const loaded = (): Tool => {
    if (tool) return tool;
    throw new Failure("internal", "A call was read before its tool was loaded.");
  };
  return {
    ...describe(node),
    effect: "delegate",
    timeoutMs: NO_TIMEOUT_MS,
    load: open,
    parse: (input) => loaded().parse(input),
    asksAbout: (input) => loaded().asksAbout?.(input),
    run: async (input, context) => (await open()).run(input, context),
  };
}
