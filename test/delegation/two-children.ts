/** A model whose run has two children: `stopped` never ends by itself, `steered` waits for a message. */

import type { Item } from "../../src/protocol/items.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import {
  createScriptedProvider,
  type Reply,
  reply,
  type ScriptEngine,
} from "../../src/testing/index.ts";

export interface TwoChildren {
  readonly engine: ScriptEngine;
  /** Lets `steered` give its first answer. */
  release(): void;
}

/** `tool` is what the root calls its children with. Its last answer is everything that it was told. */
export function createTwoChildren(tool = "subagent"): TwoChildren {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const call = (label: string) => ({
    name: tool,
    arguments: JSON.stringify({ label, task_prompt: `Work as ${label}` }),
  });
  const answer = async (request: ModelRequest): Promise<Reply> => {
    const texts = request.items.map(toText);
    const asked = (start: string): boolean => texts.some((text) => text.startsWith(start));
    if (asked("Work as stopped")) return reply.silence("Half of it");
    if (asked("Work as steered")) {
      await released;
      return reply.text(asked("Look at b") ? "Looked at b." : "Looked at a.");
    }
    const isBack = request.items.some(({ type }) => type === "function_call_output");
    if (!isBack) return reply.calls([call("stopped"), call("steered")]);
    return reply.text(JSON.stringify(texts.slice(1)));
  };
  return {
    release,
    async *engine(request, call) {
      const said = await answer(request);
      yield* createScriptedProvider(said).stream(request, call);
    },
  };
}

function toText(item: Item): string {
  if (item.type === "function_call_output") return JSON.stringify(item.output);
  if (item.type !== "message") return "";
  if (typeof item.content === "string") return item.content;
  return item.content.map((part) => ("text" in part ? part.text : "")).join("");
}
