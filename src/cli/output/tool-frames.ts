/**
 * The frames of a turn's tool calls, one call after the other: each begins with a frame that names it, and
 * what a vendor sends of several at once waits until the one before it is whole.
 */

import type { Item } from "../../protocol/items.ts";
import type { ArgumentsDelta, ItemEnd, ItemStart } from "../../protocol/model-events.ts";

/** Makes one frame; `name` stands in the first of a call. */
type ToFrame = (delta: string, call: { readonly id: string; readonly name?: string }) => string;

export interface ToolFrames {
  start(event: ItemStart): string;
  delta(event: ArgumentsDelta): string;
  end(event: ItemEnd): string;
  /** What still waits: the turn is over. */
  flush(): string;
}

interface Call {
  readonly id: string;
  readonly index: number;
  /** Not shown yet. */
  frames: string;
  hasArguments: boolean;
  isWhole: boolean;
}

export function createToolFrames(toFrame: ToFrame): ToolFrames {
  /** In the order they were begun; the first is the one that is shown. */
  let open: Call[] = [];
  const find = (index: number): Call | undefined => open.find((call) => call.index === index);

  function show(): string {
    let shown = "";
    for (;;) {
      const [first] = open;
      if (!first) return shown;
      shown += first.frames;
      first.frames = "";
      if (!first.isWhole) return shown;
      open.shift();
    }
  }

  return {
    start({ index, item }) {
      const call = toCall(item);
      if (!call) return "";
      const frames = toFrame("", call);
      open.push({ id: call.id, index, frames, hasArguments: false, isWhole: false });
      return show();
    },
    delta({ index, delta }) {
      const call = find(index);
      if (!call) return toFrame(delta, { id: "" });
      call.hasArguments ||= delta !== "";
      call.frames += toFrame(delta, { id: call.id });
      return show();
    },
    end({ index, item }) {
      const call = find(index);
      if (!call) return "";
      const whole = toCall(item)?.arguments ?? "";
      if (!call.hasArguments && whole !== "") call.frames += toFrame(whole, { id: call.id });
      call.isWhole = true;
      return show();
    },
    flush() {
      for (const call of open) call.isWhole = true;
      const shown = show();
      open = [];
      return shown;
    },
  };
}

function toCall(
  item: Item,
): { readonly id: string; readonly name: string; readonly arguments: string } | undefined {
  if (item.type === "function_call") {
    return { id: item.call_id, name: item.name, arguments: item.arguments };
  }
  if (item.type !== "custom_tool_call") return undefined;
  return { id: item.call_id, name: item.name, arguments: item.input };
}
