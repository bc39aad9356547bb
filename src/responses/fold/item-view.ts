/**
 * The client's view of the items of its response: the fields that it asked for, and what was left out.
 */

import type { EmittedItem, EmittedResponse } from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type { ResponseSettings } from "../request/response-settings.ts";
import { toEmittedItem } from "./emitted-item.ts";
import { tellIgnored } from "./ignored.ts";
import { LIKELY, lacksSeal, SEAL, toSummarised } from "./show-item.ts";

/** The fields of items that are shown. */
export interface Showing {
  /** In addition to those that the request itself asked for. */
  readonly include?: readonly string[] | undefined;
  /** Shows all items whole: for the model, not for the client. */
  readonly everything?: boolean | undefined;
}

/** The place of an item, and its agent. */
interface Shown {
  readonly outputIndex: number;
  readonly status: "in_progress" | "completed";
  /** Invented when left out. */
  readonly id?: string | undefined;
  /** Undefined without a team. */
  readonly agent: string | undefined;
}

export class ItemView {
  readonly #showing: Showing;
  #runId = "";
  /** Undefined for a run that answers no request; all its fields are shown. */
  #include: ReadonlySet<string> | undefined;
  readonly #ignored = new Set<string>();
  #metadata: Readonly<Record<string, string>> = {};
  /** True if thoughts are shown as a summary, where the client looks for them. */
  summarises = false;

  constructor(showing: Showing) {
    this.#showing = showing;
  }

  get showsLogprobs(): boolean {
    return this.#include?.has(LIKELY) ?? true;
  }

  begin(runId: string, settings: ResponseSettings | undefined): void {
    this.#runId = runId;
    const { include = [], everything } = this.#showing;
    if (settings && !everything) {
      this.#include = new Set([...settings.include, ...include]);
      this.summarises = Boolean(settings.echo.reasoning?.summary);
    }
    this.#metadata = settings?.echo.metadata ?? {};
    this.ignore(settings?.ignored ?? []);
  }

  toEmitted(item: Item, { outputIndex, status, id, agent }: Shown): EmittedItem {
    const shown = this.summarises ? toSummarised(item) : item;
    const known = { outputIndex, status, runId: this.#runId, include: this.#include };
    const emitted = toEmittedItem(shown, known, id);
    if (agent === undefined) return emitted;
    return { ...emitted, agent: { agent_name: agent } } as EmittedItem;
  }

  /** Notes sealed thoughts that the client asked for and no model has given. */
  checkSeal(item: Item): void {
    if (lacksSeal(item) && this.#include?.has(SEAL)) this.ignore([`include (${SEAL})`]);
  }

  /** Notes fields of the request that a model's API does not support. */
  ignore(names: readonly string[]): void {
    for (const name of names) this.#ignored.add(name);
  }

  /** Adds to a response which fields were left out. */
  tell(response: EmittedResponse): void {
    tellIgnored(response, this.#metadata, this.#ignored);
  }
}
