/**
 * The SSE form of standard output: `event: TYPE`, `data: {"id","delta","type"}`, a blank line.
 *
 * A frame is written whole, with nothing between frames; all else goes to standard error. The frames of a tool call
 * have its id; the first one also has its `name`, and no text. A run that does not complete ends with a `block_end`
 * that has the error, and has no `response_end`.
 */

import { encodeSse } from "../../base/sse.ts";
import type { Item } from "../../protocol/items.ts";
import type { LoggedEvent, RunEnd, RunEvent } from "../../protocol/run-events.ts";
import type { Projection, ProjectionOptions } from "./projection.ts";
import { createToolFrames, type ToolFrames } from "./tool-frames.ts";

type FrameType =
  | "response_start"
  | "output_text"
  | "reasoning_content"
  | "tool_call"
  | "tool_result"
  | "block_end"
  | "response_end"
  | "output_structured";

export function createSseOutput({ stdout, brief, isStructured }: ProjectionOptions): Projection {
  const project = createFrameWriter({ brief, isStructured });
  return {
    async write(events: readonly LoggedEvent[]) {
      // Joined for each batch: one write for each read of the network.
      const frames = events.map(({ event }) => project(event)).join("");
      if (frames !== "") await stdout.write(frames);
    },
  };
}

interface FrameOptions {
  readonly brief: boolean;
  readonly isStructured: boolean;
}

/** Turns each event of one run into its frames, in order; often there are none. */
export function createFrameWriter(options: FrameOptions): (event: RunEvent) => string {
  const calls = createToolFrames((delta, { id, name }) =>
    encodeSse("tool_call", {
      id,
      delta,
      type: "tool_call",
      ...(name === undefined ? {} : { name }),
    }),
  );
  return (event) => {
    const ofCalls = options.brief ? "" : toCallFrames(event, calls);
    return ofCalls + toFrames(event, options);
  };
}

function toCallFrames(event: RunEvent, calls: ToolFrames): string {
  switch (event.type) {
    case "item_start":
      return calls.start(event);
    case "arguments_delta":
      return calls.delta(event);
    case "item_end":
      return calls.end(event);
    case "turn_end":
    case "run_end":
      return calls.flush();
    case "tool_end": {
      const text = `\n\nTool Result (${event.name}):\n${textOf(event.item)}\n`;
      return frame("tool_result", text, event.call_id);
    }
    default:
      return "";
  }
}

function toFrames(event: RunEvent, { isStructured }: FrameOptions): string {
  switch (event.type) {
    case "start":
      return frame("response_start", "", event.response_id);
    case "text_delta":
    case "refusal_delta":
      return isStructured ? "" : frame("output_text", event.delta);
    case "reasoning_delta":
      return frame("reasoning_content", event.delta);
    case "turn_end":
      return isStructured ? "" : frame("block_end", "");
    case "run_end":
      return toEnd(event, isStructured);
    default:
      return "";
  }
}

function toEnd(event: RunEnd, isStructured: boolean): string {
  if (event.ending !== "completed") return frame("block_end", `Error: ${event.message}`);
  const document = isStructured
    ? frame("output_structured", JSON.stringify(event.output_json))
    : "";
  return document + frame("response_end", "");
}

function frame(type: FrameType, delta: string, id = ""): string {
  return encodeSse(type, { id, delta, type });
}

function textOf(item: Item): string {
  if (item.type !== "function_call_output") return "";
  return typeof item.output === "string" ? item.output : JSON.stringify(item.output);
}
