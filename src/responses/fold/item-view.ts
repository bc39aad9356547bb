/** How a client sees the items of its response: what it asked to see of them, and what was left out. */

import type { EmittedItem, EmittedResponse } from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type { ResponseSettings } from "../request/response-settings.ts";
import { toEmittedItem } from "./emitted-item.ts";
import { tellIgnored } from "./ignored.ts";
import { LIKELY, lacksSeal, SEAL, toSummarised } from "./show-item.ts";

/** What is shown of items. */
export interface Showing {
  /** Beside what the request itself asked to see. */
  readonly include?: readonly string[] | undefined;
  /** Shows all of them whole: for the model, not for the client. */
  readonly everything?: boolean | undefined;
}

/** Where an item stands, and whose it is. */
interface Shown {
  readonly outputIndex: number;
  readonly status: "in_progress" | "completed";
  /** Made up when left out. */
  readonly id?: string | undefined;
  /** Undefined where there is no team. */
  readonly agent: string | undefined;
}

export class ItemView {
  readonly #showing: Showing;
  #runId = "";
  /** Undefined for a run that answers no request, of which everything is shown. */
  #include: ReadonlySet<string> | undefined;
  readonly #ignored = new Set<string>();
  #metadata: Readonly<Record<string, string>> = {};
  /** Whether thoughts are shown where the client looks for their summary. */
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

  /** Notes what the client asked to see and no model has given. */
  checkSeal(item: Item): void {
    if (lacksSeal(item) && this.#include?.has(SEAL)) this.ignore([`include (${SEAL})`]);
  }

  /** Things of the request that a model's API has no word for. */
  ignore(names: readonly string[]): void {
    for (const name of names) this.#ignored.add(name);
  }

  /** Says in a response what was left out. */
  tell(response: EmittedResponse): void {
    tellIgnored(response, this.#metadata, this.#ignored);
  }
}
