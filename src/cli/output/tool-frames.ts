/**
 * The frames of a turn's tool calls, one call after the other: each begins with a frame that names it. If a vendor
 * sends several at once, a call waits until the one before it is complete.
 */

import type { Item } from "../../protocol/items.ts";
import type { ArgumentsDelta, ItemEnd, ItemStart } from "../../protocol/model-events.ts";

/** Makes one frame; the first frame of a call has `name`. */
type ToFrame = (delta: string, call: { readonly id: string; readonly name?: string }) => string;

export interface ToolFrames {
  start(event: ItemStart): string;
  delta(event: ArgumentsDelta): string;
  end(event: ItemEnd): string;
  /** Returns the frames that still wait: the turn is over. */
  flush(): string;
}

interface Call {
  readonly id: string;
  readonly index: number;
  /** Frames that are not written yet. */
  frames: string;
  hasArguments: boolean;
  isWhole: boolean;
}

export function createToolFrames(toFrame: ToFrame): ToolFrames {
  /** In the order in which they began; the first one is being written. */
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
