/** The speakers of a log, and the items that each has begun. Only the event writer changes it. */

import { createOpenWork, type OpenWork } from "../../protocol/abandoned-work.ts";
import type { EmittedItem } from "../../protocol/emitted.ts";
import type { PartWriter } from "./part-writer.ts";

export interface OpenOutputItem {
  readonly outputIndex: number;
  readonly item: EmittedItem;
  readonly parts: PartWriter;
  /** True if this server makes the call, and so reports its progress. */
  readonly isOwn: boolean;
}

/** A speaker of a log: the run itself, or an agent of its team. */
export interface Speaker {
  /** Undefined without a team. */
  agent: string | undefined;
  /** The speaker's unfinished items of the present turn, by their index in the turn. */
  readonly open: Map<number, OpenOutputItem>;
  /** The indices of the present turn's items in the whole output. */
  places: Map<number, number>;
  /** Calls that its model has made and this server has not made yet, by their ids. */
  readonly pending: Map<string, OpenOutputItem>;
  /** Work that a takeover would abandon. Calls of a turn that has ended are not part of it. */
  readonly work: OpenWork;
}

export function createVoice(agent?: string): Speaker {
  const work = createOpenWork();
  return { agent, open: new Map(), places: new Map(), pending: new Map(), work };
}
