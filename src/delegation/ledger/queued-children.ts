/**
 * The children that a run has asked for and that are not started, folded from its log. A call names them when it
 * starts; a `child_queue` says what they wait for and which ids they will have.
 */

import { isJsonObject, type Json, tryParseJson } from "../../base/json.ts";
import type { ChildQueue, WaitReason } from "../../protocol/child-queue.ts";
import type { RunEvent, ToolStart } from "../../protocol/run-events.ts";
import { isDelegating } from "../tools/names.ts";

export interface Queued {
  /** The id that its run will have; null while it is not known. */
  readonly id: string | null;
  readonly label: string;
  /** The reason why the child waits; null while it is not known. */
  readonly why: WaitReason | null;
}

export interface QueueFold {
  /** The waiting children in the order they were asked for. */
  readonly queued: readonly Queued[];
  readonly size: number;
  /** Returns the children that, by this event, will never be started: those of a call that ends, or of the run. */
  read(event: RunEvent): readonly Queued[];
  /** No further children are started, for a reason that is not in the log. */
  close(): void;
}

/** Events that change a queue; others need not be given to it. Most events of a log are others. */
export const QUEUE_EVENTS: ReadonlySet<RunEvent["type"]> = new Set([
  ...(["tool_start", "tool_end", "child_queue", "child_start", "child_end"] as const),
  ...(["run_resume", "run_end"] as const),
]);

export function createQueueFold(): QueueFold {
  return new Fold();
}

/** A call that delegates, with those of its children that it has not started. */
interface QueuedCall {
  /** Undefined for children that no call started: their labels are not in any arguments. */
  readonly callId: string | undefined;
  readonly children: Queued[];
}

const NONE_QUEUED: readonly Queued[] = [];

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
        return NONE_QUEUED;
      case "tool_end":
        return this.#endCalls(({ callId }) => callId === event.call_id);
      case "run_resume":
        // The new owner makes the open calls again.
        this.#isResumed = true;
        this.#calls.length = 0;
        return NONE_QUEUED;
      case "run_end":
        return this.#endCalls(() => true);
      default:
        return NONE_QUEUED;
    }
  }

  close(): void {
    this.#calls.length = 0;
  }

  #ask(event: ToolStart): readonly Queued[] {
    if (!isDelegating(event.name)) return NONE_QUEUED;
    // A call that is made again after a takeover finds the children that it had started.
    const started = this.#isResumed ? [...this.#open.values()] : [];
    const labels = toLabels(event).filter((label) => !started.includes(label));
    const children = labels.map((label) => ({ id: null, label, why: null }));
    if (children.length > 0) this.#calls.push({ callId: event.call_id, children });
    return NONE_QUEUED;
  }

  #explain({ why, children }: ChildQueue): readonly Queued[] {
    for (const { child_id: id, label } of children) {
      const known = this.#find((one) => one.id === id) ?? this.#find((one) => isLike(one, label));
      if (known) known.call.children[known.at] = { id, label, why };
      else this.#calls.push({ callId: undefined, children: [{ id, label, why }] });
    }
    return NONE_QUEUED;
  }

  #start(id: string, label: string): readonly Queued[] {
    const found = this.#find((one) => one.id === id) ?? this.#find((one) => isLike(one, label));
    if (!found) return NONE_QUEUED;
    found.call.children.splice(found.at, 1);
    if (found.call.children.length === 0) this.#calls.splice(this.#calls.indexOf(found.call), 1);
    return NONE_QUEUED;
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

/** A child whose id is not known yet is matched by its label. */
function isLike({ id, label }: Queued, other: string): boolean {
  return id === null && label === other;
}

/** The children that a call of a delegating tool asks for. */
function toLabels({ name, arguments: text }: ToolStart): string[] {
  const parsed = tryParseJson(text);
  if (!isJsonObject(parsed)) return [];
  const { tasks } = parsed;
  if (Array.isArray(tasks)) return tasks.map((task) => labelOf(task) ?? "");
  // A child without a label has the tool's name.
  return [labelOf(parsed) ?? name];
}

function labelOf(task: Json): string | undefined {
  const label = isJsonObject(task) ? task["label"] : undefined;
  return typeof label === "string" ? label : undefined;
}
