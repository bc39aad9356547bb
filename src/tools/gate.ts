/**
 * The gate: the one function through which every tool call of every run goes.
 *
 * Whatever is wrong with a call is told to the model as its result, so that it can do better:
 * arguments that do not parse, a tool that does not exist, a tool that throws. Only a cancelled run
 * comes out as a rejection.
 */

import { throwIfAborted, toAbortFailure } from "../base/async.ts";
import { Failure, toFailure } from "../base/failure.ts";
import { type Json, tryParseJson } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import type { Tool, ToolContext } from "./tool.ts";

export interface Gate {
  readonly tools: readonly Tool[];
  /** Whether the call may run beside others. Unknown tools change nothing. */
  isReadOnly(name: string): boolean;
  call(call: ToolCall, context: ToolContext): Promise<ToolResult>;
}

export interface ToolCall {
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}

export interface ToolResult {
  readonly output: string;
  /** Whether the text says what was wrong. */
  readonly failed: boolean;
  /** Whether the tool broke, rather than saying what was wrong: it threw no `Failure`. */
  readonly thrown: boolean;
}

export function createGate(tools: readonly Tool[]): Gate {
  const byName = new Map(tools.map((tool) => [tool.spec.name, tool]));

  return {
    tools,
    isReadOnly: (name) => byName.get(name)?.readOnly ?? true,
    async call(call, context) {
      throwIfAborted(context.signal);
      try {
        const tool = byName.get(call.name) ?? unknownTool(call.name, byName.keys());
        const output = await tool.run(tool.parse(parseArguments(call)), context);
        return { output: toText(output), failed: false, thrown: false };
      } catch (thrown) {
        if (context.signal.aborted) throw toAbortFailure(context.signal);
        const output = `Error: ${toFailure(thrown).message}`;
        return { output, failed: true, thrown: !(thrown instanceof Failure) };
      }
    },
  };
}

function unknownTool(name: string, known: Iterable<string>): never {
  const names = [...known];
  const near = nearest(name, names);
  const hint = near ? ` Did you mean \`${near}\`?` : "";
  const all = names.length > 0 ? names.join(", ") : "none";
  throw new Failure("not_found", `There is no tool named \`${name}\`.${hint} Tools: ${all}.`);
}

/** A call without arguments may come with an empty text. */
function parseArguments({ name, arguments: text }: ToolCall): Json {
  if (text.trim() === "") return {};
  const parsed = tryParseJson(text);
  if (parsed !== undefined) return parsed;
  throw new Failure("invalid_request", `The arguments of \`${name}\` are not JSON.`);
}

function toText(output: Json): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
