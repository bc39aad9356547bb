/**
 * The gate: the one function through which every tool call of every run goes.
 *
 * What happens to a call is `judged-call.ts`, which is loaded by the first one: most runs of a command have
 * none, and reading what a shell command touches is a tenth of all code that a run could need.
 */

import { tryParseJson } from "../../base/json.ts";
import type { ProcessMark } from "../../protocol/run-events.ts";
import { createScope } from "../scope.ts";
import type { Tool } from "../tool.ts";
import { createAlways } from "./always.ts";
import type { CallContext, GateParts, ToolCall, ToolResult } from "./call.ts";
import type { GateMemory } from "./judged-call.ts";

export interface Gate {
  readonly tools: readonly Tool[];
  /** Most calls of one turn that run at once. Those that wait for children are not counted. */
  readonly parallelCalls: number;
  /** Whether the call may run beside others. Unknown tools change nothing. */
  isReadOnly(name: string): boolean;
  /** Whether a call of it may wait for others: for a person who is asked about it, or for children. */
  mayWait(name: string): boolean;
  /** How many children the call would start; none where its arguments cannot be read. */
  countChildren(call: ToolCall): number;
  call(call: ToolCall, context: CallContext): Promise<ToolResult>;
  /** Ends what calls of a past owner of the run have started; returns those that it could not end. */
  endLeftovers(processes: readonly ProcessMark[]): Promise<readonly ProcessMark[]>;
  /** Ends what the calls have kept. */
  close(): Promise<void>;
}

export function createGate(parts: GateParts): Gate {
  const { tools, sandbox, limits } = parts;
  const scope = createScope();
  const findTool = (name: string): Tool | undefined => tools.find(({ spec }) => spec.name === name);
  const tree = parts.treeAlways ?? createAlways();
  const memory: GateMemory = { scope, always: createAlways(), tree };
  return {
    tools,
    parallelCalls: limits.parallelCalls,
    isReadOnly: (name) => findTool(name)?.readOnly ?? true,
    mayWait(name) {
      return parts.ask !== undefined || findTool(name)?.effect === "delegate";
    },
    countChildren({ name, arguments: text }) {
      const tool = findTool(name);
      const input = tool?.countChildren && tryParseJson(text);
      return input === undefined ? 0 : (tool?.countChildren?.(input) ?? 0);
    },
    async call(call, context) {
      const { callJudged } = await import("./judged-call.ts");
      return await callJudged(call, parts, memory, context);
    },
    async endLeftovers(processes) {
      if (processes.length === 0) return [];
      const { endLeftovers } = await import("../sandbox/leftovers.ts");
      return await endLeftovers(processes);
    },
    async close() {
      try {
        await scope.close();
        await parts.hooks?.close();
      } finally {
        await sandbox.close();
      }
    },
  };
}
