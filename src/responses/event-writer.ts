/**
 * A run's log as the events of the Responses API: the one place that numbers them, and the one that
 * makes an `error` event of a failure.
 *
 * A pure fold: the same log gives the same events, ids and numbers, live or a year later. Items of
 * all turns stand in one output; places that a turn counts from 0 are counted on here.
 */

import { unreachable } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type {
  EmittedEvent,
  EmittedItem,
  EmittedResponse,
  Unnumbered,
} from "../protocol/emitted.ts";
import type {
  AnnotationAdded,
  ItemEnd,
  ItemStart,
  OpaqueEvent,
  ReasoningDelta,
  RefusalDelta,
  TextDelta,
} from "../protocol/model-events.ts";
import type { RunEnd, RunEvent, RunStart, ToolEnd } from "../protocol/run-events.ts";
import { toEmittedItem } from "./emitted-item.ts";
import { createPartWriter, idOf, type PartWriter } from "./part-writer.ts";
import { endResponse, toResponse } from "./response-object.ts";

export interface EventWriter {
  /** The events that one event of the log means, in order; often one, sometimes none. */
  write(event: RunEvent): EmittedEvent[];
  /** The response as far as it is known. */
  response(): EmittedResponse | undefined;
}

export function createEventWriter(): EventWriter {
  const writer = new RunWriter();
  return { write: (event) => writer.write(event), response: () => writer.response };
}

interface OpenItem {
  readonly outputIndex: number;
  readonly item: EmittedItem;
  readonly parts: PartWriter;
}

class RunWriter {
  response: EmittedResponse | undefined;
  #next = 0;
  #runId = "";
  #out: EmittedEvent[] = [];
  readonly #output: EmittedItem[] = [];
  /** The items of the current turn that have not ended, by their place in the turn. */
  readonly #open = new Map<number, OpenItem>();
  /** The places of the current turn's items in the whole output. */
  #places = new Map<number, number>();

  write(event: RunEvent): EmittedEvent[] {
    this.#out = [];
    this.#read(event);
    return this.#out;
  }

  #read(event: RunEvent): void {
    switch (event.type) {
      case "run_start":
        return this.#start(event);
      case "turn_start":
        this.#places = new Map();
        return;
      case "item_start":
        return this.#startItem(event);
      case "text_delta":
      case "refusal_delta":
      case "reasoning_delta":
        return this.#delta(event);
      case "arguments_delta":
        return this.#open.get(event.index)?.parts.arguments(event.delta);
      case "annotation":
        return this.#annotate(event);
      case "opaque":
        return this.#pass(event);
      case "item_end":
        return this.#endItem(event);
      case "tool_end":
        return this.#addOutput(event);
      case "run_resume":
        return this.#cutOpen();
      case "run_end":
        return this.#end(event);
      case "start":
      case "turn_end":
      case "tool_start":
      case "tool_decision":
      case "child_start":
      case "child_end":
      case "notice":
        return;
      default:
        return unreachable(event);
    }
  }

  #emit(event: Unnumbered): void {
    this.#out.push({ ...event, sequence_number: this.#next++ } as EmittedEvent);
  }

  #start(event: RunStart): void {
    const response = toResponse(event);
    this.response = response;
    this.#runId = event.run_id;
    this.#emit({ type: "response.created", response });
    this.#emit({ type: "response.in_progress", response });
  }

  #startItem({ index, item }: ItemStart): void {
    const outputIndex = this.#output.length;
    const opened = toEmittedItem(item, { runId: this.#runId, outputIndex, status: "in_progress" });
    this.#output.push(opened);
    this.#places.set(index, outputIndex);
    const emit = (event: Unnumbered): void => this.#emit(event);
    const parts = createPartWriter({ item: opened, outputIndex, emit });
    this.#open.set(index, { outputIndex, item: opened, parts });
    this.#emit({ type: "response.output_item.added", output_index: outputIndex, item: opened });
  }

  #delta(event: TextDelta | RefusalDelta | ReasoningDelta): void {
    this.#open.get(event.index)?.parts.delta(event);
  }

  #annotate({ index, part, annotation }: AnnotationAdded): void {
    this.#open.get(index)?.parts.annotation(part, annotation);
  }

  /** Progress of a tool that the vendor runs: its own words, with our numbers. */
  #pass({ event }: OpaqueEvent): void {
    const place = event["output_index"];
    const outputIndex = typeof place === "number" ? this.#places.get(place) : undefined;
    const placed: JsonObject =
      outputIndex === undefined ? event : { ...event, output_index: outputIndex };
    this.#emit(placed as unknown as Unnumbered);
  }

  #endItem({ index, item }: ItemEnd): void {
    const open = this.#open.get(index);
    if (!open) return;
    this.#open.delete(index);
    const { outputIndex, parts } = open;
    const known = { runId: this.#runId, outputIndex, status: "completed" } as const;
    const done = toEmittedItem(item, known, idOf(open.item));
    this.#output[outputIndex] = done;
    parts.finish(done);
    this.#emit({ type: "response.output_item.done", output_index: outputIndex, item: done });
  }

  #addOutput({ item }: ToolEnd): void {
    const outputIndex = this.#output.length;
    const done = toEmittedItem(item, { runId: this.#runId, outputIndex, status: "completed" });
    this.#output.push(done);
    this.#emit({ type: "response.output_item.added", output_index: outputIndex, item: done });
    this.#emit({ type: "response.output_item.done", output_index: outputIndex, item: done });
  }

  /** What was said before a crash cannot be taken back: it ends as incomplete. */
  #cutOpen(): void {
    for (const { outputIndex, item, parts } of this.#open.values()) {
      const cut = parts.cut(item);
      this.#output[outputIndex] = cut;
      this.#emit({ type: "response.output_item.done", output_index: outputIndex, item: cut });
    }
    this.#open.clear();
  }

  #end(event: RunEnd): void {
    this.#cutOpen();
    if (!this.response) return;
    const response = endResponse(this.response, event, this.#output);
    this.response = response;
    const { status, error } = response;
    if (status === "failed" && error) this.#emit(toErrorEvent(error.code, error.message));
    this.#emit({ type: TERMINAL[status] ?? "response.incomplete", response });
  }
}

const TERMINAL: Readonly<Record<string, "response.completed" | "response.failed">> = {
  completed: "response.completed",
  failed: "response.failed",
};

/** Both shapes at once: the published one is flat, the one real servers send is nested. */
function toErrorEvent(code: string, message: string): Unnumbered {
  const type = "server_error";
  return { type: "error", code, message, param: null, error: { type, code, message, param: null } };
}
