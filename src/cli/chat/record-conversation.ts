/**
 * A conversation over the record of runs alone: each run is given everything that was said before it. It is known by
 * the id of its last run.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { withoutAbandoned } from "../../protocol/abandoned-work.ts";
import type { Item, Message } from "../../protocol/items.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { lastWords } from "../../runtime/run-request.ts";
import type { Run, Runtime } from "../../runtime/runtime.ts";
import type {
  ChatRunRequest,
  Conversation,
  ConversationSummary,
  ConversationTurn,
} from "./conversation.ts";

/** How far back conversations are looked for. */
const LOOKED_AT = 200;

export function createRecordConversation(runtime: Runtime, folder: string): Conversation {
  return new RecordConversation(runtime, folder);
}

class RecordConversation implements Conversation {
  readonly #runtime: Runtime;
  readonly #folder: string;
  #items: readonly Item[] = [];
  #id: string | undefined;
  #runs: string[] = [];

  constructor(runtime: Runtime, folder: string) {
    this.#runtime = runtime;
    this.#folder = folder;
  }

  get id(): string | undefined {
    return this.#id;
  }

  get runs(): readonly string[] {
    return this.#runs;
  }

  async start(message: Message, request: ChatRunRequest): Promise<Run> {
    const asked: ChatRunRequest & { readonly input: readonly Item[] } = {
      ...request,
      input: [...this.#items, message],
    };
    const run = await this.#runtime.run(asked);
    this.#id = run.id;
    this.#runs.push(run.id);
    return run;
  }

  async settle(run: Run): Promise<void> {
    this.#items = answerOpenCalls(await itemsOf(run));
  }

  async list(): Promise<readonly ConversationSummary[]> {
    const records = await this.#runtime.engine.record.listRuns({
      limit: LOOKED_AT,
      parent_id: null,
    });
    return records.filter((record) => this.#isHere(record)).map(toSummary);
  }

  async turns(): Promise<readonly ConversationTurn[]> {
    return toTurns(this.#items);
  }

  async open(name: string): Promise<ConversationSummary> {
    const all = await this.list();
    const found = name === "last" ? all[0] : all.find(({ id }) => id.startsWith(name));
    if (!found) {
      const message = `There is no session \`${clip(name, 80)}\` in this folder. /resume lists them.`;
      throw new Failure("not_found", message);
    }
    const run = await this.#takeOver(found.id);
    await this.settle(run);
    this.#id = found.id;
    this.#runs = [found.id];
    return found;
  }

  async fork(turn?: number): Promise<void> {
    if (turn !== undefined) this.#items = cutAfter(this.#items, turn);
  }

  reset(): void {
    this.#items = [];
    this.#id = undefined;
    this.#runs = [];
  }

  /** A run whose process died is ended: what it had finished counts. */
  async #takeOver(id: string): Promise<Run> {
    const run = await this.#runtime.attach(id);
    const status = await this.#runtime.engine.status(id);
    if (status?.status !== "ended") await this.#runtime.cancel(id);
    return run;
  }

  #isHere({ input }: RunRecord): boolean {
    return isJsonObject(input) && input["root"] === this.#folder;
  }
}

function toSummary({ id, input, title, created_at_ms }: RunRecord): ConversationSummary {
  const items =
    isJsonObject(input) && Array.isArray(input["items"]) ? (input["items"] as Item[]) : [];
  const [first] = items;
  const words = first ? lastWords([first]) : title;
  return { id, title: clip(words.replace(/\s+/g, " "), 80), used_at_ms: created_at_ms };
}

/** As `run.items()`; a run that was taken over to be ended may begin its log again. */
async function itemsOf(run: Run): Promise<readonly Item[]> {
  const log: RunEvent[] = [];
  for await (const batch of run.follow()) log.push(...batch.map(({ event }) => event));
  const start = log.findLastIndex(({ type }) => type === "run_start");
  return withoutAbandoned(log.slice(Math.max(0, start))).flatMap((event) => {
    if (event.type === "run_start") return event.input;
    if (event.type === "run_input") return event.items;
    return event.type === "item_end" || event.type === "tool_end" ? [event.item] : [];
  });
}

/** A run that ended in the middle left calls without results, which no model's server takes. */
function answerOpenCalls(items: readonly Item[]): readonly Item[] {
  const answered = new Set(
    items.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : [])),
  );
  return items.flatMap((item): Item[] => {
    if (item.type !== "function_call" || answered.has(item.call_id)) return [item];
    const output = "The run was stopped before this call had a result.";
    return [item, { type: "function_call_output", call_id: item.call_id, output }];
  });
}

/** A turn is one model call: what it said and called, up to the next results or words of the person. */
function toTurns(items: readonly Item[]): ConversationTurn[] {
  return groupTurns(items).map(({ items: own, prompt }, at) => ({
    turn: at + 1,
    prompt,
    text: own.flatMap(textsOf).join("\n"),
  }));
}

function cutAfter(items: readonly Item[], turn: number): readonly Item[] {
  if (turn <= 0) return [];
  const group = groupTurns(items)[turn - 1];
  if (!group) throw new Failure("not_found", `There is no turn ${turn}. /rewind lists them.`);
  const calls = new Set(
    group.items.flatMap((item) => (item.type === "function_call" ? [item.call_id] : [])),
  );
  const rest = items.slice(group.end);
  const results = rest.filter(
    (item) => item.type === "function_call_output" && calls.has(item.call_id),
  );
  return [...items.slice(0, group.end), ...results];
}

interface TurnGroup {
  readonly items: readonly Item[];
  readonly prompt: string | null;
  /** After its last item. */
  readonly end: number;
}

function groupTurns(items: readonly Item[]): TurnGroup[] {
  const groups: TurnGroup[] = [];
  let own: Item[] = [];
  let prompt: string | null = null;
  const close = (end: number): void => {
    if (own.length > 0) groups.push({ items: own, prompt, end });
    if (own.length > 0) prompt = null;
    own = [];
  };
  for (const [at, item] of items.entries()) {
    const isPerson = item.type === "message" && item.role !== "assistant";
    const isResult = item.type.endsWith("_output");
    if (!isPerson && !isResult) {
      own.push(item);
      continue;
    }
    close(at);
    if (isPerson) prompt = lastWords([item]);
  }
  close(items.length);
  return groups;
}

function textsOf(item: Item): string[] {
  if (item.type !== "message") return [];
  if (typeof item.content === "string") return [item.content];
  return item.content.flatMap((part) => (part.type === "output_text" ? [part.text] : []));
}
