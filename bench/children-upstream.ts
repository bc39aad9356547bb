/**
 * The model's server of `children.ts`, in a process of its own: the parent delegates, a child says a word. After
 * `hold` it keeps the children's answers back until `release`, and reports `waiting` as soon as all that can wait at
 * once do.
 */

import type { ModelRequest } from "../src/providers/provider.ts";
import { startChatUpstream } from "../src/testing/index.ts";
import { type AnswerReply, reply } from "../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../src/testing/reply-events.ts";

export const CALLS = 10;
/** Tasks of one call: as many as `parallel_subagent` runs at once. */
const TASKS = 100;
export const CHILDREN = CALLS * TASKS;
/** A turn runs eight of its calls at once, each with all of its tasks; the last two calls come later. */
export const AT_ONCE = 8 * TASKS;

/** The parent's prompt; any other prompt is a child's. */
export const PARENT = "Delegate.";

export function toPrompt(number: number): string {
  return `Answer ${number}.`;
}

/** Sends its parent the URL. */
export async function startHoldingUpstream(): Promise<void> {
  const makeId = createCountingIds();
  const held: (() => void)[] = [];
  let isHolding = false;
  const upstream = await startChatUpstream({
    async *engine(request, { signal }) {
      if (isHolding && !isParent(request)) {
        await new Promise<void>((resolve) => {
          if (held.push(resolve) === AT_ONCE) process.send?.("waiting");
        });
      }
      yield* replyEvents(choose(request), request, { signal, makeId });
    },
  });
  process.on("message", (message) => {
    isHolding = message === "hold";
    if (!isHolding) for (const go of held.splice(0)) go();
  });
  // It ends with its parent, however that ends.
  process.on("disconnect", () => process.exit());
  process.send?.(upstream.url);
}

function isParent({ items: [first] }: ModelRequest): boolean {
  return first?.type === "message" && first.content === PARENT;
}

function choose(request: ModelRequest): AnswerReply {
  if (!isParent(request)) return reply.text("A word.");
  if (request.items.some(({ type }) => type === "function_call_output")) {
    return reply.text("Done.");
  }
  const calls = Array.from({ length: CALLS }, (_, call) => ({
    name: "parallel_subagent",
    arguments: { tasks: toTasks(call * TASKS), max_concurrent: TASKS },
  }));
  // In few pieces: the parent's own answer is not measured.
  return reply.calls(calls, { pieceLength: 4096 });
}

function toTasks(first: number) {
  return Array.from({ length: TASKS }, (_, at) => ({
    label: `child ${first + at}`,
    task_prompt: toPrompt(first + at),
    // One model call, as in a plain run: no report.
    max_turns: 1,
  }));
}
