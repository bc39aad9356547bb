/** The pieces of a conversation in the page's form. */

import type { EventView } from "../../core/views.ts";

export type Block = { readonly seq: number } & (
  | ({
      readonly kind: "words";
      readonly who: "user" | "system" | "assistant";
      readonly isOpen: boolean;
    } & Spoken)
  | ({ readonly kind: "thinking"; readonly isOpen: boolean } & Spoken)
  | { readonly kind: "call"; readonly call: CallBlock }
  | {
      readonly kind: "turn";
      readonly turn: number;
      readonly tokens: number;
      readonly usd: number | null;
      readonly model: string | undefined;
    }
  | {
      readonly kind: "note";
      readonly tone: "quiet" | "bad" | "warn" | "good";
      readonly text: string;
    }
  | {
      readonly kind: "child";
      readonly id: string;
      readonly label: string;
      readonly ending: string | undefined;
    }
);

interface Spoken {
  readonly text: string;
  /** Pictures inside it, as data: shown on demand. */
  readonly pictures: readonly string[];
  readonly rest: Rest | undefined;
}

/** A text that was cut for its length, and the place of the whole text. */
export interface Rest {
  readonly run: string;
  readonly seq: number;
  readonly path: string;
  /** In characters. */
  readonly length: number;
}

export interface CallBlock {
  readonly id: string;
  readonly name: string;
  readonly given: string;
  readonly decision: string;
  readonly isDenied: boolean;
  readonly output: string | undefined;
  readonly pictures: readonly string[];
  readonly failed: boolean;
  readonly rest: Rest | undefined;
  /** The event that opened it: its step. Undefined for a block that the run did not make itself. */
  readonly at: number | undefined;
}

export const NO_CALL: CallBlock = {
  id: "",
  name: "",
  given: "",
  decision: "",
  isDenied: false,
  output: undefined,
  pictures: [],
  failed: false,
  rest: undefined,
  at: undefined,
};

/** The first cut text below a place of an event. */
export function toRest(run: string, { seq, clipped }: EventView, below: string): Rest | undefined {
  const cut = clipped.find(({ kind, path }) => kind === "text" && path.startsWith(below));
  return cut && { run, seq, path: cut.path, length: cut.length };
}
