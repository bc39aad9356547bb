/** A run that works for long on a model with a small window, on engines that come and go. */

import { z } from "zod";
import { createAccount } from "../../../src/agent/account.ts";
import { AGENT_CALLS } from "../../../src/agent/calls.ts";
import { estimateTokens } from "../../../src/agent/context/token-estimate.ts";
import { runLoop } from "../../../src/agent/loop.ts";
import type { LoopParts } from "../../../src/agent/loop-parts.ts";
import { createOutputCheck } from "../../../src/agent/structured-output.ts";
import { type AgentTask, SAFEGUARDS } from "../../../src/agent/task.ts";
import { Failure } from "../../../src/base/failure.ts";
import { tryParseJson } from "../../../src/base/json.ts";
import type { RunBody } from "../../../src/engine/engine.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { openKeeper } from "../../../src/runtime/open-keeper.ts";
import { createManualClock, createScriptedProvider, reply } from "../../../src/testing/index.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { createGate } from "../../../src/tools/gate/gate.ts";
import { toGateParts } from "../../tools/workspace-folder.ts";

export const TASK: AgentTask = {
  model: "test/model",
  model_reason: "a test",
  provider: null,
  url: null,
  api_key_name: null,
  instructions: null,
  items: [{ type: "message", role: "user", content: "Work through all of it." }],
  tools: [],
  tool_choice: "auto",
  max_turns: 50,
  temperature: null,
  max_output_tokens: null,
  think: false,
  format: { type: "text" },
  root: ".",
  on_throw: "tell_model",
  compact: "auto",
  ...SAFEGUARDS,
};

export interface Work {
  /** The window that the vendor accepts. */
  readonly window: number;
  /** The window that we know of. */
  readonly contextTokens?: number | undefined;
  /** How many calls the model makes before it answers. */
  readonly calls: number;
  readonly resultChars?: number | undefined;
  readonly summary?: (() => string | Failure) | undefined;
  readonly costOf?: LoopParts["costOf"] | undefined;
  readonly task?: Partial<AgentTask> | undefined;
  /** How long its answer is. */
  readonly answerTokens?: number | undefined;
  /** True if the vendor does not report token counts. */
  readonly isUncounted?: boolean | undefined;
}

export interface WorkingModel extends Provider {
  /** Requests that were answered, oldest first. */
  readonly asked: ModelRequest[];
  readonly refused: ModelRequest[];
  readonly summaries: ModelRequest[];
}

/** Calls `work` with the next number, which it reads from its last call, and ends with the last. */
export function createWorkingModel(work: Work): WorkingModel {
  const { window, calls, summary, isUncounted, answerTokens = 20 } = work;
  const lists: Pick<WorkingModel, "asked" | "refused" | "summaries"> = {
    asked: [],
    refused: [],
    summaries: [],
  };
  return {
    name: "working",
    ...lists,
    async *stream(request, call) {
      const input = sizeOf(request);
      if (input > window) {
        lists.refused.push(request);
        throw new Failure("context_exceeded", `It has ${input} tokens; ${window} are the most.`);
      }
      const counted = (output: number) => ({
        usage: isUncounted ? { input: 0, output: 0 } : { input, output },
      });
      if (isSummaryRequest(request)) {
        lists.summaries.push(request);
        const said = summary?.() ?? `MEMORY ${lists.summaries.length}`;
        if (said instanceof Failure) throw said;
        yield* createScriptedProvider(reply.text(said, counted(20))).stream(request, call);
        return;
      }
      lists.asked.push(request);
      const n = lastNumber(request.items) + 1;
      const next =
        n > calls
          ? reply.text(`done ${calls}`, counted(answerTokens))
          : reply.calls([{ name: "work", arguments: { n }, call_id: `call_${n}` }], counted(20));
      yield* createScriptedProvider(next).stream(request, call);
    },
  };
}

export function sizeOf({ items, instructions, tools }: ModelRequest): number {
  return estimateTokens({ items, instructions, tools });
}

export function isSummaryRequest({ instructions = "" }: ModelRequest): boolean {
  return instructions.startsWith("You write the memory of a conversation");
}

function lastNumber(items: readonly Item[]): number {
  const call = items.findLast((item) => item.type === "function_call");
  const given = call?.type === "function_call" ? tryParseJson(call.arguments) : undefined;
  return typeof given === "object" && given !== null && "n" in given ? Number(given["n"]) : 0;
}

/** The body of such a run. `worked` is called with each call that is made. */
export function toBody(
  model: WorkingModel,
  work: Work,
  worked: (n: number) => void = () => {},
): RunBody {
  const { contextTokens, resultChars = 1200, costOf = () => 0 } = work;
  const task = { ...TASK, ...work.task };
  const tool = defineTool({
    name: "work",
    description: "Works.",
    parameters: z.object({ n: z.number() }),
    readOnly: true,
    async run({ n }) {
      worked(n);
      return `result ${n} ${"x".repeat(resultChars)}`;
    },
  });
  return async (context) => {
    const gate = createGate(await toGateParts(".", [tool]));
    const reasoning = { effort: "none", summary: undefined } as const;
    const opened = { provider: model, contextTokens, costOf, reasoning, checkInput() {} };
    const clock = createManualClock(1000);
    const own = { context, task, clock, gate, account: createAccount(task.limits) };
    const keeper = openKeeper({
      ...own,
      model: opened,
      nativeTools: [],
      backgroundChildren: undefined,
    });
    return runLoop({
      ...own,
      ...opened,
      keeper,
      calls: AGENT_CALLS,
      spentBelow: () => undefined,
      checkOutput: await createOutputCheck(task.format),
    });
  };
}
