/**
 * The gate: the one function through which every tool call of every run goes.
 *
 * In this order: find the tool, parse the arguments, see what the call touches, hold it against the
 * grant, decide by the rules, ask if that is what they say, take it from the budget, write the decision
 * down, and only then run it, with a limit on its time and its output.
 *
 * Whatever is wrong with a call is told to the model as its result, so that it can do better. Only a
 * cancelled run comes out as a rejection.
 */

import { throwIfAborted, toAbortFailure } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ProcessMark } from "../../protocol/run-events.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createScope } from "../scope.ts";
import { type Tool, ToolOutput } from "../tool.ts";
import { createAlways } from "./always.ts";
import type { CallContext, GateParts, ToolCall, ToolResult } from "./call.ts";
import { grants } from "./grant.ts";
import { type Allowed, judge, type Memory, toDecision } from "./judge.ts";
import { toOutput, toText } from "./output.ts";
import { fits, NOTHING_TOUCHED } from "./rules.ts";
import { runLimited } from "./run-limited.ts";

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
  const { tools, workspace, sandbox, limits, redact } = parts;
  const scope = createScope();
  const findTool = (name: string): Tool | undefined => tools.find(({ spec }) => spec.name === name);
  const memory: Memory = { always: createAlways(), tree: parts.treeAlways ?? createAlways() };

  async function run(allowed: Allowed, context: CallContext): Promise<ToolResult> {
    const { signal, idempotencyKey } = context;
    const allowsHost = createHostCheck(parts, allowed);
    const tell = async (event: JsonObject): Promise<void> => {
      await context.tell?.(event);
    };
    const told = tellStarts(sandbox, context);
    const kept = { workspace, sandbox: told, scope };
    const toolContext = { ...kept, allowsHost, signal, idempotencyKey, tell };
    const { timeoutMs = limits.timeoutMs } = allowed.tool;
    const returned = await runLimited(allowed, toolContext, timeoutMs);
    const output = toOutput(returned, limits.outputChars, redact);
    if (!(returned instanceof ToolOutput)) return { output, failed: false, thrown: false };
    const { failed, details } = returned;
    return { output, failed, thrown: false, details };
  }

  /** Some tools' own words for a failure begin so. */
  function refuse({ message }: Failure): ToolResult {
    const text = toText(message, limits.outputChars, redact);
    const output = /^Error\b/.test(text) ? text : `Error: ${text}`;
    return { output, failed: true, thrown: false };
  }

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
      throwIfAborted(context.signal);
      const judgement = await judge(call, parts, memory, context);
      await context.decided(judgement.decision);
      if (judgement.refusal) return refuse(judgement.refusal);
      throwIfAborted(context.signal);
      try {
        return await run(judgement, context);
      } catch (thrown) {
        if (context.signal.aborted) throw toAbortFailure(context.signal);
        const failure = toFailure(thrown);
        if (failure.code === "forbidden") {
          const { message: reason } = failure;
          const decided = { verdict: "deny", by: "guard", rule: undefined, reason } as const;
          await context.decided(toDecision(parts, decided));
        }
        return { ...refuse(failure), thrown: hasThrown(judgement.tool, thrown) };
      }
    },
    async endLeftovers(processes) {
      if (processes.length === 0) return [];
      const { endLeftovers } = await import("../sandbox/leftovers.ts");
      return await endLeftovers(processes);
    },
    async close() {
      try {
        await scope.close();
      } finally {
        await sandbox.close();
      }
    },
  };
}

/**
 * Whether the tool itself could not do it. What it says of a call that is wrong, or that is not allowed, is
 * an answer; so is the error of a subagent, whose parent goes on.
 */
function hasThrown({ effect }: Tool, thrown: unknown): boolean {
  if (!(thrown instanceof Failure)) return true;
  return thrown.code === "tool_failed" && effect !== "delegate";
}

/** The sandbox as one call has it: the record knows what is started before it starts. */
function tellStarts(sandbox: Sandbox, { starting }: CallContext): Sandbox {
  if (!starting) return sandbox;
  return { ...sandbox, start: (command) => sandbox.start({ ...command, onStart: starting }) };
}

/**
 * A redirect leads to a host that was not judged: what refuses or asks about it stops the call there,
 * and a call that is let through for its host goes to hosts alone that are let through too.
 */
function createHostCheck(
  { grant, policy }: GateParts,
  { tool, rule }: Allowed,
): (host: string) => boolean {
  const isForHost = rule?.verdict === "allow" && rule.about !== "all";
  return (host) => {
    const touched = { ...NOTHING_TOUCHED, tool: tool.spec.name, hosts: [host] };
    const fitting = policy.rules.filter((one) => one.about !== "all" && fits(one, touched));
    const isStopped = fitting.some(({ verdict }) => verdict !== "allow");
    const isLet = !isForHost || fitting.some(({ verdict }) => verdict === "allow");
    return grants(grant, "hosts", host) && !isStopped && isLet;
  };
}
