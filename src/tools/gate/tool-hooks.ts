/** The hooks around a tool call. */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { HookDenial } from "../hooks/run-hooks.ts";
import type { CallContext, GateParts, ToolResult } from "./call.ts";
import type { ToolCall, Touched } from "./rules.ts";

export interface HookedCall {
  readonly call: ToolCall;
  readonly touched: Touched;
  readonly result?: ToolResult;
}

/** The first denial; undefined if there is none, or no hook. */
export async function runToolHooks(
  on: "before_tool" | "after_tool",
  { call, touched, result }: HookedCall,
  { hooks, redact }: Pick<GateParts, "hooks" | "redact">,
  { signal, idempotencyKey, notice }: Pick<CallContext, "signal" | "idempotencyKey" | "notice">,
): Promise<HookDenial | undefined> {
  if (!hooks?.has(on)) return undefined;
  const text = redact(call.arguments);
  const given = tryParseJson(text);
  const fields: JsonObject = {
    // A step's key has no slash, so the part before the last slash is the run.
    run_id: idempotencyKey.slice(0, idempotencyKey.lastIndexOf("/")),
    tool: call.name,
    arguments: isJsonObject(given) ? given : text,
    ...(result ? { result: { output: toText(result.output), failed: result.failed } } : {}),
  };
  const tell = async (problem: string): Promise<unknown> => await notice?.(redact(problem));
  const denial = await hooks.run(on, fields, { signal, touched, tell });
  return denial && { ...denial, reason: redact(denial.reason) };
}

/** The result with the reason of a hook that denied it, for the model. */
export function withDenial(result: ToolResult, { hook, reason }: HookDenial): ToolResult {
  const words = `\n[hook ${hook}: ${reason}]`;
  const { output } = result;
  const after: readonly ContentPart[] = [{ type: "input_text", text: words }];
  return {
    ...result,
    output: typeof output === "string" ? output + words : [...output, ...after],
    failed: true,
  };
}

function toText(output: ToolResult["output"]): string {
  if (typeof output === "string") return output;
  return output.map((part) => ("text" in part ? String(part.text) : `[${part.type}]`)).join("\n");
}
