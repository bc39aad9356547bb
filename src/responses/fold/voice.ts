/** Who speaks in a log, and what each of them has begun to say. Only the event writer changes it. */

import { createOpenWork, type OpenWork } from "../../protocol/abandoned-work.ts";
import type { EmittedItem } from "../../protocol/emitted.ts";
import type { PartWriter } from "./part-writer.ts";

export interface OpenItem {
  readonly outputIndex: number;
  readonly item: EmittedItem;
  readonly parts: PartWriter;
  /** Whether this server makes the call, and so tells how far it is. */
  readonly isOwn: boolean;
}

/** One of those who speak in a log: the run itself, or an agent of its team. */
export interface Voice {
  /** Undefined where there is no team. */
  agent: string | undefined;
  /** Its items of the current turn that have not ended, by their place in the turn. */
  readonly open: Map<number, OpenItem>;
  /** The places of the current turn's items in the whole output. */
  places: Map<number, number>;
  /** Calls that its model has made and this server has not, by their ids. */
  readonly pending: Map<string, OpenItem>;
  /** What a takeover would abandon: calls of a turn that has ended outlive it. */
  readonly work: OpenWork;
}

export function createVoice(agent?: string): Voice {
  const work = createOpenWork();
  return { agent, open: new Map(), places: new Map(), pending: new Map(), work };
}
