/**
 * The children that a run has asked for and that are not started, folded from its log. A call says whom it
 * asks for when it starts; a `child_queue` says what they wait for and which ids they will have.
 */

import { isJsonObject, type Json, tryParseJson } from "../../base/json.ts";
import type { ChildQueue, RunEvent, ToolStart, WaitReason } from "../../protocol/run-events.ts";
import { isDelegating } from "../tools/names.ts";

export interface Queued {
  /** The id that its run will have; null while nothing has told it. */
  readonly id: string | null;
  readonly label: string;
  /** What it waits for; null while nothing has told it. */
  readonly why: WaitReason | null;
}

export interface QueueFold {
  /** In the order they were asked for. */
  readonly queued: readonly Queued[];
  readonly size: number;
  /** Returns those that the event says will never be started: of a call that ends, and of a run. */
  read(event: RunEvent): readonly Queued[];
  /** Nobody of them is started any more, for a reason that is not in the log. */
  close(): void;
}

export function createQueueFold(): QueueFold {
  return new Fold();
}

/** A call that delegates, with those of its children that it has not started. */
interface QueuedCall {
  /** Undefined for children that are in no call: their labels are not those of its arguments. */
  readonly callId: string | undefined;
  readonly children: Queued[];
}

const NOBODY: readonly Queued[] = [];

class Fold implements QueueFold {
  readonly #calls: QueuedCall[] = [];
  /** Labels by id, of children that have started and not ended. */
  readonly #open = new Map<string, string>();
  #isResumed = false;

  get queued(): readonly Queued[] {
    return this.#calls.flatMap(({ children }) => children);
  }

  get size(): number {
    return this.#calls.reduce((sum, { children }) => sum + children.length, 0);
  }

  read(event: RunEvent): readonly Queued[] {
    switch (event.type) {
      case "tool_start":
        return this.#ask(event);
      case "child_queue":
        return this.#explain(event);
      case "child_start":
        this.#open.set(event.child_id, event.label);
        return this.#start(event.child_id, event.label);
      case "child_end":
        this.#open.delete(event.child_id);
        return NOBODY;
      case "tool_end":
        return this.#endCalls(({ callId }) => callId === event.call_id);
      case "run_resume":
        // It makes its open calls again.
        this.#isResumed = true;
        this.#calls.length = 0;
        return NOBODY;
      case "run_end":
        return this.#endCalls(() => true);
      default:
        return NOBODY;
    }
  }

  close(): void {
    this.#calls.length = 0;
  }

  #ask(event: ToolStart): readonly Queued[] {
    if (!isDelegating(event.name)) return NOBODY;
    // A call that is made again after a takeover finds those that it had started.
    const started = this.#isResumed ? [...this.#open.values()] : [];
    const labels = toLabels(event).filter((label) => !started.includes(label));
    const children = labels.map((label) => ({ id: null, label, why: null }));
    if (children.length > 0) this.#calls.push({ callId: event.call_id, children });
    return NOBODY;
  }

  #explain({ why, children }: ChildQueue): readonly Queued[] {
    for (const { child_id: id, label } of children) {
      const known = this.#find((one) => one.id === id) ?? this.#find((one) => isLike(one, label));
      if (known) known.call.children[known.at] = { id, label, why };
      else this.#calls.push({ callId: undefined, children: [{ id, label, why }] });
    }
    return NOBODY;
  }

  #start(id: string, label: string): readonly Queued[] {
    const found = this.#find((one) => one.id === id) ?? this.#find((one) => isLike(one, label));
    if (!found) return NOBODY;
    found.call.children.splice(found.at, 1);
    if (found.call.children.length === 0) this.#calls.splice(this.#calls.indexOf(found.call), 1);
    return NOBODY;
  }

  #find(isIt: (one: Queued) => boolean): { call: QueuedCall; at: number } | undefined {
    for (const call of this.#calls) {
      const at = call.children.findIndex(isIt);
      if (at >= 0) return { call, at };
    }
    return undefined;
  }

  #endCalls(isOver: (call: QueuedCall) => boolean): readonly Queued[] {
    const over = this.#calls.filter(isOver);
    for (const call of over) this.#calls.splice(this.#calls.indexOf(call), 1);
    return over.flatMap(({ children }) => children);
  }
}

/** One whose id is not told yet goes by its label. */
function isLike({ id, label }: Queued, other: string): boolean {
  return id === null && label === other;
}

/** The children that a call of a delegating tool asks for. */
function toLabels({ name, arguments: text }: ToolStart): string[] {
  const parsed = tryParseJson(text);
  if (!isJsonObject(parsed)) return [];
  const { tasks } = parsed;
  if (Array.isArray(tasks)) return tasks.map((task) => labelOf(task) ?? "");
  // One without a label has the tool's name.
  return [labelOf(parsed) ?? name];
}

function labelOf(task: Json): string | undefined {
  const label = isJsonObject(task) ? task["label"] : undefined;
  return typeof label === "string" ? label : undefined;
}
