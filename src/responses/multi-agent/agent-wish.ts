/**
 * The request for the run of an agent: with the same model and tools, for the same client. Pure.
 */

import type { AgentTask } from "../../agent/task.ts";
import type { ChildWish } from "../../delegation/child.ts";
import type { Item } from "../../protocol/items.ts";
import { ROOT } from "../fold/agent-name.ts";
import { encodeWish, type ResponseWish } from "../request/response-wish.ts";

/** The most turns of an agent for one task. */
const MAX_TURNS = 50;

/** The name of a run's agent. */
export function nameOf({ multi_agent }: ResponseWish): string {
  return multi_agent?.name ?? ROOT;
}

/** The request of the run that starts it. */
interface Above {
  readonly task: AgentTask;
  readonly wish: ResponseWish;
}

interface NewAgent {
  readonly name: string;
  readonly items: readonly Item[];
  /** The last number of the first run's log whose client answers are in the items. */
  readonly heard: number;
}

export function toAgentWish({ task, wish }: Above, { name, items, heard }: NewAgent): ChildWish {
  // The items of an agent that is not the first contain a note that is not for the next one.
  const isFirst = nameOf(wish) === ROOT;
  const instructions = (isFirst ? task.instructions : wish.multi_agent?.instructions) ?? null;
  const multi_agent = {
    max_concurrent: wish.multi_agent?.max_concurrent ?? 1,
    name,
    instructions,
    heard,
  };
  const response = encodeWish({
    ...wish,
    multi_agent,
    ignored: [],
    previous_response_id: null,
    conversation: null,
    background: false,
    is_compaction: false,
    // The agent's usage is counted with the run that started it, and booked once.
    key_id: null,
  });
  return {
    label: name.slice(name.lastIndexOf("/") + 1),
    prompt: "",
    instructions: [instructions, toNote(name)].filter(Boolean).join("\n\n"),
    summaryPrompt: null,
    tools: undefined,
    maxTurns: MAX_TURNS,
    agent: name,
    items,
    response,
  };
}

function toNote(name: string): string {
  const above = name.slice(0, name.lastIndexOf("/"));
  return `You are ${name}, one agent of a team. ${above} has given you a task: do it, and answer with only the result. Your answer is sent to ${above} unchanged; the user does not see it.`;
}
