/**
 * Turns a run's log into the events of the Responses API. Only this file numbers them, and only this file makes an
 * `error` event from a failure.
 *
 * It is a pure fold: the same log gives the same events, ids and numbers, live or a year later. Items of all turns
 * are in one output; indices that a turn counts from 0 are continued here.
 */

import { type Failure, unreachable } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Abandoned } from "../../protocol/abandoned-work.ts";
import type {
  EmittedEvent,
  EmittedItem,
  EmittedResponse,
  Unnumbered,
} from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type {
  AnnotationAdded,
  ItemEnd,
  ItemStart,
  OpaqueEvent,
  ReasoningDelta,
  RefusalTextDelta,
  TextDelta,
} from "../../protocol/model-events.ts";
import type {
  ChildEvent,
  Notice,
  RunEnd,
  RunEvent,
  RunStart,
  ToolEnd,
  ToolProgress,
} from "../../protocol/run-events.ts";
import { readResponseSettings } from "../request/response-settings.ts";
import {
  CALL_EVENTS,
  isFailedCall,
  resultOf,
  toCallEvents,
  toResultEvents,
} from "./call-events.ts";
import { createGivenItems, type PlacedItem, withGiven } from "./given-items.ts";
import { ItemView, type Showing } from "./item-view.ts";
import { createOutputList, createSpeaker, type OpenOutput, type Speaker } from "./open-output.ts";
import { createPartWriter, idOf } from "./part-writer.ts";
import {
  breakResponse,
  endResponse,
  toOutputText,
  toResponse,
  withToldError,
} from "./response-object.ts";
import { isSilent } from "./silent-events.ts";
import { toTerminalEvents } from "./terminal-events.ts";

export interface EventWriter {
  /** The events for one event of the log, appended to `out`; often one, sometimes none. */
  write(event: RunEvent, out?: EmittedEvent[]): EmittedEvent[];
  /** The last events of a broken stream: `error`, `response.failed`. None if it has ended. */
  fail(failure: Failure): EmittedEvent[];
  /** The response as far as it is known. */
  response(): EmittedResponse | undefined;
  /** The complete items, and what the client answered meanwhile: another request continues here. */
  said(): Item[];
  /** The client's answers meanwhile, with their places in the output. */
  given(): readonly PlacedItem[];
}

export function createEventWriter(showing: Showing = {}): EventWriter {
  const writer = new RunWriter(showing);
  return {
    write: (event, out = []) => writer.write(event, out),
    fail: (failure) => writer.fail(failure),
    response: () => writer.soFar(),
    said: () => writer.said(),
    given: () => writer.given.placed(),
  };
}

class RunWriter {
  response: EmittedResponse | undefined;
  #isOver = false;
  /** True if the run answers a client's request. */
  #answers = false;
  #next = 0;
  #out: EmittedEvent[] = [];
  readonly #output = createOutputList();
  readonly given = createGivenItems();
  readonly #own = createSpeaker();
  /** The agents of its team, by their names. */
  readonly #others = new Map<string, Speaker>();
  /** The agent of the present event. */
  #speaker = this.#own;
  readonly #view: ItemView;

  constructor(showing: Showing) {
    this.#view = new ItemView(showing);
  }

  write(event: RunEvent, out: EmittedEvent[]): EmittedEvent[] {
    this.#out = out;
    this.#read(event);
    return out;
  }

  /** The response of a run at work, with its complete items. */
  soFar(): EmittedResponse | undefined {
    if (!this.response || this.#isOver) return this.response;
    const output = this.#findWhole(this.#output.all);
    return { ...this.response, output, output_text: toOutputText(output) };
  }

  said(): Item[] {
    return this.#findWhole(withGiven(this.#output.all, this.given.placed()) as Item[]);
  }

  #findWhole<Said>(items: readonly Said[]): Said[] {
    const speakers = [this.#own, ...this.#others.values()];
    const open = speakers.flatMap((one) => [...one.open.values(), ...one.pending.values()]);
    const openAt = open.map(({ outputIndex }) => outputIndex);
    return this.#output.select(items, openAt);
  }

  #read(event: RunEvent): void {
    if (isSilent(event)) return;
    switch (event.type) {
      case "run_start":
        return this.#start(event);
      case "run_begin":
        return this.#begin();
      case "turn_start":
        this.#speaker.places = new Map();
        this.#speaker.work.read(event);
        return this.given.read(this.#speaker.agent, this.#output.length);
      case "turn_end":
      case "compaction":
        return void this.#speaker.work.read(event);
      case "item_start":
        return this.#startItem(event);
      case "text_delta":
      case "refusal_delta":
      case "reasoning_delta":
        return this.#delta(event);
      case "arguments_delta":
        return this.#speaker.open.get(event.index)?.parts.arguments(event.delta);
      case "annotation":
        return this.#annotate(event);
      case "opaque":
        return this.#pass(event);
      case "item_end":
        return this.#endItem(event);
      case "tool_start":
        return this.#tellProgress(event.call_id, "running");
      case "tool_progress":
        return this.#tell(event);
      case "tool_end":
        return event.shown ? this.#show(event.call_id, event.shown) : this.#addOutput(event);
      case "run_resume":
        return this.#abandon(this.#speaker.work.read(event));
      case "run_end":
        return this.#end(event);
      case "notice":
        return this.#note(event);
      case "child_event":
        return this.#readOther(event);
      case "client_input":
      case "run_input":
        return this.given.add({ agent: this.#speaker.agent, ...event });
      default:
        return unreachable(event);
    }
  }

  /** Reads an event of an agent of the team like an event of the run, under the agent's name. */
  #readOther({ agent, event }: ChildEvent): void {
    const speaker = this.#others.get(agent) ?? createSpeaker(agent);
    this.#others.set(agent, speaker);
    this.#speaker = speaker;
    if (event.type === "run_end") {
      speaker.work.read(event);
      this.#cutAll();
    } else this.#read(event);
    this.#speaker = this.#own;
  }

  /** Numbers the event in place: a copy would cost twice as much. It is the writer's from here. */
  #emit(event: Unnumbered): void {
    const numbered = event as EmittedEvent & { agent?: { agent_name: string } };
    numbered.sequence_number = this.#next++;
    const { agent } = this.#speaker;
    // An event about the whole response belongs to no agent.
    if (agent !== undefined && !("response" in event) && event.type !== "error") {
      numbered.agent = { agent_name: agent };
    }
    this.#out.push(numbered);
  }

  #start(event: RunStart): void {
    const settings = readResponseSettings(event.settings);
    const response = toResponse(event, settings);
    this.response = response;
    this.#answers = settings !== undefined;
    this.#own.agent = settings?.agent;
    this.#view.begin(event.run_id, settings);
    this.#emit({ type: "response.created", response });
    const type = response.status === "queued" ? "response.queued" : "response.in_progress";
    this.#emit({ type, response });
  }

  #begin(): void {
    if (this.response?.status !== "queued") return;
    this.response = { ...this.response, status: "in_progress" };
    this.#emit({ type: "response.in_progress", response: this.response });
  }

  #note({ code, params = [] }: Notice): void {
    if (code === "dropped") this.#view.ignore(params);
  }

  #startItem({ index, item, own = false }: ItemStart): void {
    const [opened, outputIndex] = this.#add(item, "in_progress");
    this.#speaker.places.set(index, outputIndex);
    const emit = (event: Unnumbered): void => this.#emit(event);
    const { showsLogprobs } = this.#view;
    const parts = createPartWriter({ item: opened, outputIndex, emit, isOwn: own, showsLogprobs });
    const open = { outputIndex, item: opened, parts, isOwn: own };
    this.#speaker.open.set(index, open);
    if (own) this.#emitProgress(open, "begun");
  }

  /** Adds an item at the end of the output, with its event. */
  #add(item: Item, status: "in_progress" | "completed"): [EmittedItem, number] {
    const outputIndex = this.#output.length;
    const added = this.#toEmitted(item, { outputIndex, status });
    this.#output.add(added);
    this.#emit({ type: "response.output_item.added", output_index: outputIndex, item: added });
    return [added, outputIndex];
  }

  #finish(item: EmittedItem, outputIndex: number): void {
    this.#output.replace(outputIndex, item);
    this.#emit({ type: "response.output_item.done", output_index: outputIndex, item });
  }

  #toEmitted(
    item: Item,
    at: { outputIndex: number; status: "in_progress" | "completed" },
    id?: string,
  ): EmittedItem {
    return this.#view.toEmitted(item, { id, agent: this.#speaker.agent, ...at });
  }

  #delta(event: TextDelta | RefusalTextDelta | ReasoningDelta): void {
    const isThought = event.type === "reasoning_delta" && event.kind === "text";
    const told =
      isThought && this.#view.summarises ? { ...event, kind: "summary" as const } : event;
    this.#speaker.open.get(event.index)?.parts.delta(told);
  }

  #annotate({ index, part, annotation }: AnnotationAdded): void {
    this.#speaker.open.get(index)?.parts.annotation(part, annotation);
  }

  /** Progress of a tool that the vendor runs: the vendor's event, with our numbers. */
  #pass({ event }: OpaqueEvent): void {
    const place = event["output_index"];
    const outputIndex = typeof place === "number" ? this.#speaker.places.get(place) : undefined;
    const placed: JsonObject =
      outputIndex === undefined ? { ...event } : { ...event, output_index: outputIndex };
    this.#emit(placed as unknown as Unnumbered);
  }

  #endItem({ index, item, pending }: ItemEnd): void {
    const open = this.#speaker.open.get(index);
    if (!open) return;
    this.#speaker.open.delete(index);
    const { outputIndex, parts } = open;
    const status = pending === undefined ? "completed" : "in_progress";
    const done = this.#toEmitted(item, { outputIndex, status }, idOf(open.item));
    this.#view.checkSeal(item);
    parts.finish(done);
    if (pending === undefined) {
      if (open.isOwn) this.#emitProgress(open, isFailedCall(item) ? "failed" : "done");
      return this.#finish(done, outputIndex);
    }
    this.#output.replace(outputIndex, done);
    this.#speaker.pending.set(pending, { ...open, item: done });
    this.#emitAll(toCallEvents(item), { output_index: outputIndex });
  }

  #tellProgress(callId: string, when: "running"): void {
    const open = this.#speaker.pending.get(callId);
    if (open) this.#emitProgress(open, when);
  }

  #emitProgress(
    { item, outputIndex }: OpenOutput,
    when: "begun" | "running" | "done" | "failed",
    made?: Item,
  ): void {
    const type = CALL_EVENTS[item.type]?.[when];
    const place = { item_id: idOf(item), output_index: outputIndex };
    if (type) this.#emitAll([{ type, ...resultOf(made) }], place);
  }

  #emitAll(events: readonly JsonObject[], place: JsonObject): void {
    for (const event of events) this.#emit({ ...event, ...place } as unknown as Unnumbered);
  }

  #tell({ call_id, event }: ToolProgress): void {
    const open = this.#speaker.pending.get(call_id);
    if (!open) return;
    this.#emitAll([event], { item_id: idOf(open.item), output_index: open.outputIndex });
  }

  /** Closes the item of a call that this server has made, and adds the items after it. */
  #show(callId: string, [made, ...after]: readonly Item[]): void {
    const open = this.#speaker.pending.get(callId);
    this.#speaker.pending.delete(callId);
    if (open && made) {
      const { outputIndex } = open;
      const done = this.#toEmitted(made, { outputIndex, status: "completed" }, idOf(open.item));
      this.#emitProgress(open, isFailedCall(made) ? "failed" : "done", made);
      this.#finish(done, outputIndex);
    }
    const added = open || !made ? after : [made, ...after];
    for (const item of added) this.#addWhole(item);
  }

  #addOutput({ item }: ToolEnd): void {
    this.#addWhole(item);
  }

  #addWhole(item: Item): void {
    const [added, outputIndex] = this.#add(item, "completed");
    const place = { item_id: idOf(added), output_index: outputIndex };
    this.#emitAll(toResultEvents(item), place);
    this.#finish(added, outputIndex);
  }

  /**
   * Output from before a takeover cannot be taken back: it ends as incomplete, and is part of no answer. Calls of a
   * turn that had ended stay open: they are made again.
   */
  #abandon(abandoned: Abandoned | undefined): void {
    const { open, pending, places } = this.#speaker;
    for (const { outputIndex } of open.values()) this.#output.abandon(outputIndex);
    this.#cut(open);
    if (!abandoned?.turn) return;
    for (const place of places.values()) this.#output.abandon(place);
    this.#cut(pending);
  }

  #cutAll(): void {
    this.#cut(this.#speaker.open);
    this.#cut(this.#speaker.pending);
  }

  #cut(items: Map<number, OpenOutput> | Map<string, OpenOutput>): void {
    for (const { outputIndex, item, parts } of items.values()) {
      this.#finish(parts.cut(item), outputIndex);
    }
    items.clear();
  }

  #end(event: RunEnd): void {
    this.#cutSpeakers();
    if (!this.response) return;
    // A client only learns that a fault is this server's own; the log has the details.
    const told = this.#answers ? withToldError(event) : event;
    this.#finishResponse(endResponse(this.response, told, this.#output.select(this.#output.all)));
  }

  fail(failure: Failure): EmittedEvent[] {
    this.#out = [];
    if (!this.response || this.#isOver) return [];
    this.#cutSpeakers();
    const output = this.#output.select(this.#output.all);
    this.#finishResponse(breakResponse(this.response, failure, output), failure.code);
    return this.#out;
  }

  #cutSpeakers(): void {
    for (const speaker of [...this.#others.values(), this.#own]) {
      this.#speaker = speaker;
      this.#cutAll();
    }
  }

  #finishResponse(response: EmittedResponse, code?: string): void {
    this.#view.tell(response);
    this.response = response;
    this.#isOver = true;
    for (const event of toTerminalEvents(response, code)) this.#emit(event);
  }
}
