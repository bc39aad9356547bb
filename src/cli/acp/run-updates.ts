/** The events of a run and of all below it as updates of an editor's session. Holds the calls that are open. */

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { textOfPart } from "../../protocol/part-text.ts";
import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import { tryJson } from "./prompt-items.ts";
import { toChange, toLocations, toTitle, toToolKind } from "./tool-views.ts";

interface Parts {
  readonly id: string;
  readonly cwd: string;
  /** The model's window; 0 where it is not known. */
  readonly windowTokens: number;
}

export interface RunUpdates {
  read(batch: readonly LoggedEvent[]): AsyncGenerator<SessionUpdate>;
}

export function createRunUpdates({ id, cwd, windowTokens }: Parts): RunUpdates {
  let usd = 0;

  async function* readOwn(event: RunEvent): AsyncGenerator<SessionUpdate> {
    switch (event.type) {
      case "text_delta":
        yield chunk("agent_message_chunk", event.delta);
        break;
      case "reasoning_delta":
        yield chunk("agent_thought_chunk", event.delta);
        break;
      case "tool_start":
        yield await toCall(event.call_id, event.name, event.arguments);
        break;
      case "tool_end":
        yield toEnd(event);
        break;
      case "turn_end": {
        const { input_tokens, output_tokens } = event.usage;
        const cost = { amount: usd, currency: "USD" };
        yield {
          sessionUpdate: "usage_update",
          used: input_tokens + output_tokens,
          size: windowTokens,
          cost,
        };
        break;
      }
      default:
    }
  }

  async function toCall(call: string, name: string, given: string): Promise<SessionUpdate> {
    const shown = {
      toolCallId: call,
      title: toTitle(name, given),
      kind: toToolKind(name),
      status: "in_progress" as const,
    };
    const content = await toChange(name, given, cwd);
    return {
      sessionUpdate: "tool_call",
      ...shown,
      rawInput: tryJson(given),
      locations: toLocations(given, cwd),
      content,
    };
  }

  return {
    async *read(batch) {
      for (const { run_id, event } of batch) {
        if (event.type === "turn_end") usd += event.cost_usd ?? 0;
        if (run_id === id) yield* readOwn(event);
        const child = toChild(event);
        if (child) yield child;
      }
    },
  };
}

/** Version 1 has no nesting: a subagent is one call, whose id is its run's. */
function toChild(event: RunEvent): SessionUpdate | undefined {
  if (event.type === "child_start") {
    const { child_id: toolCallId, label } = event;
    const _meta = { "offshoot/run_id": toolCallId };
    return {
      sessionUpdate: "tool_call",
      toolCallId,
      title: `subagent ${label}`,
      kind: "think",
      status: "in_progress",
      _meta,
    };
  }
  if (event.type !== "child_end") return undefined;
  const status = event.ending === "completed" ? "completed" : "failed";
  const text = event.message === "" ? event.ending : `${event.ending}: ${event.message}`;
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: event.child_id,
    status,
    content: [toText(text)],
  };
}

function toEnd({ call_id, item, failed }: Extract<RunEvent, { type: "tool_end" }>): SessionUpdate {
  const output = item.type === "function_call_output" ? item.output : "";
  const text = typeof output === "string" ? output : output.map(textOfPart).join("\n");
  const status = failed ? "failed" : "completed";
  // What a call changed was shown with its start; a result would take the diff's place.
  return { sessionUpdate: "tool_call_update", toolCallId: call_id, status, rawOutput: text };
}

function toText(text: string) {
  return { type: "content" as const, content: { type: "text" as const, text } };
}

function chunk(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}
