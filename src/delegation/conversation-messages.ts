/**
 * A child's conversation as its model saw it, read from its log: its input, what it said and
 * called, the results, and what the loop asked in between. Pure.
 */

import { toNewsMessage } from "../agent/background.ts";
import { toRepairRequest } from "../agent/structured-output.ts";
import type { AgentTask } from "../agent/task.ts";
import { withoutAbandoned } from "../protocol/abandoned-work.ts";
import type { Item } from "../protocol/items.ts";
import type { RunEvent } from "../protocol/run-events.ts";

/** `answer` is what the parent was told; it is used for a child without a log. */
export function readMessages(
  task: AgentTask,
  events: readonly RunEvent[],
  answer: string,
): readonly Item[] {
  if (events.length === 0) {
    return answer === "" ? task.items : [...task.items, toMessage("assistant", answer)];
  }
  const reading = new Reading(task);
  for (const event of withoutAbandoned(events)) reading.read(event);
  return reading.messages;
}

class Reading {
  readonly #task: AgentTask;
  readonly #whole: Item[];
  /** Items of the current turn. */
  #turn: Item[] = [];
  /** The text of the current item so far. */
  #text = "";
  /** True if the turn before asks for nothing more, so that only the report can follow. */
  #isDone = false;

  constructor(task: AgentTask) {
    this.#task = task;
    this.#whole = [...task.items];
  }

  read(event: RunEvent): void {
    switch (event.type) {
      case "turn_start":
        this.#turn = this.#isReport(event.turn) ? [this.#summaryRequest()] : [];
        this.#text = "";
        return;
      case "notice":
        if (event.code === "repair") this.#say(toRepairRequest(event.message));
        return;
      case "text_delta":
        this.#text += event.delta;
        return;
      case "item_end":
        this.#turn.push(event.item);
        this.#text = "";
        return;
      case "turn_end":
        this.#isDone = event.reason !== "pause" && !this.#turn.some(isCall);
        this.#whole.push(...this.#turn);
        this.#turn = [];
        return;
      case "tool_end":
        this.#whole.push(event.item);
        return;
      case "run_input":
        this.#whole.push(...event.items);
        // The run continues with these messages: what follows is not a report.
        this.#isDone = false;
        return;
      case "child_news":
        this.#whole.push(toNewsMessage(event));
        this.#isDone = false;
        return;
      default:
        return;
    }
  }

  /** Includes what an interrupted turn had said. */
  get messages(): Item[] {
    const cut: Item[] =
      this.#text === "" ? [] : [{ ...toMessage("assistant", this.#text), status: "incomplete" }];
    return [...this.#whole, ...this.#turn, ...cut];
  }

  #say(text: string): void {
    this.#turn.push(toMessage("user", text));
  }

  /**
   * The log does not say that the report was asked for: it is the last turn, which is kept for it.
   */
  #isReport(turn: number): boolean {
    const { summary_prompt, report_along, format, max_turns } = this.#task;
    if (summary_prompt === null || report_along || format.type !== "text" || turn === 1)
      return false;
    return this.#isDone || turn === max_turns;
  }

  #summaryRequest(): Item {
    return toMessage("user", this.#task.summary_prompt ?? "");
  }
}

function isCall({ type }: Item): boolean {
  return type === "function_call";
}

function toMessage(role: "user" | "assistant", content: string): Item & { type: "message" } {
  return { type: "message", role, content };
}
