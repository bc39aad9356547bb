/**
 * The gate: the one function that every tool call of every run passes.
 *
 * `judged-call.ts` handles a call. It is loaded by the first one, because most runs of a command have none,
 * and the code that reads shell commands is a tenth of all code that a run could need.
 */

import { tryParseJson } from "../../base/json.ts";
import type { ProcessMark } from "../../protocol/tool-process.ts";
import { createScope } from "../scope.ts";
import type { Tool } from "../tool.ts";
import { createAlways } from "./always.ts";
import type { CallContext, GateParts, ToolResult } from "./call.ts";
import type { GateMemory } from "./judged-call.ts";
import type { ToolCall } from "./rules.ts";

export interface Gate {
  readonly tools: readonly Tool[];
  /** The most calls of one turn that run in parallel, without those that wait for children. */
  readonly parallelCalls: number;
  /** True if the call may run in parallel with others. An unknown tool changes nothing. */
  isReadOnly(name: string): boolean;
  /** True if a call of the tool may wait for approval or for children. */
  mayWait(name: string): boolean;
  /** How many children the call would start; none if its arguments cannot be read. */
  countChildren(call: ToolCall): number;
  call(call: ToolCall, context: CallContext): Promise<ToolResult>;
  /**
   * Ends programs that calls of an earlier owner of the run have started. Returns those that it could not
   * end.
   */
  endLeftovers(processes: readonly ProcessMark[]): Promise<readonly ProcessMark[]>;
  /** Closes what the calls have opened. */
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
