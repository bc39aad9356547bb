/** One agent of the live tree: its state, its figures, and what it does now. */

import { createQueueFold, type Queued } from "../../delegation/ledger/queued-children.ts";
import type { RefusedChild } from "../../delegation/ledger/refused-children.ts";
import type { RunFigures } from "../../delegation/ledger/run-figures.ts";
import type { TreeTotals } from "../../delegation/ledger/tree-totals.ts";
import type { Ending } from "../../protocol/run-events.ts";
import type { ToolQuestion } from "../../protocol/tool-question.ts";

export interface LiveNode {
  readonly id: string;
  /** The run's name below the root, as commands accept it: `parser-1.0/inner-2.1`. Empty for the root. */
  readonly name: string;
  readonly label: string;
  readonly parent: LiveNode | undefined;
  readonly figures: RunFigures;
  readonly startedAtMs: number;
  /** The time of the last event by this process's clock: the times in the log do not matter. */
  readonly heardAtMs: number;
  /** Null while it runs, and if it left none. */
  readonly ending: Ending | null;
  readonly isEnded: boolean;
  /** True after it was told to stop. */
  readonly isStopping: boolean;
  /** What the run has requested and not received yet. */
  readonly waitsFor: "model" | "tool" | undefined;
  /** Children that run, or have running ones below them, in the order of their start. */
  readonly open: ReadonlySet<LiveNode>;
  /** Children that it has asked for and that are not started, in order. */
  readonly queued: readonly Queued[];
}

/** The effect of one event on a node. */
export type NodeNews =
  | { readonly type: "started"; readonly node: LiveNode }
  | { readonly type: "asks"; readonly node: LiveNode; readonly question: ToolQuestion }
  | { readonly type: "ended"; readonly node: LiveNode; readonly end: NodeEnd }
  | { readonly type: "refused"; readonly children: readonly RefusedChild[] };

export interface NodeEnd {
  readonly ending: Ending;
  readonly message: string;
  readonly figures: RunFigures;
  readonly ms: number;
}

export class Node implements LiveNode {
  readonly open = new Set<Node>();
  readonly queue = createQueueFold();
  ending: Ending | null = null;
  isEnded = false;
  isStopping = false;
  /** True while the model is asked. The next field: the number of tools at work. */
  isAsking = false;
  tools = 0;
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly parent: Node | undefined;
  readonly startedAtMs: number;
  readonly totals: TreeTotals;
  heardAtMs: number;

  constructor(parts: NodeParts) {
    this.id = parts.id;
    this.name = parts.name;
    this.label = parts.label;
    this.parent = parts.parent;
    this.startedAtMs = parts.startedAtMs;
    this.totals = parts.totals;
    this.heardAtMs = parts.heardAtMs;
  }

  get figures(): RunFigures {
    return this.totals.figuresOf(this.id);
  }

  get queued(): readonly Queued[] {
    return this.queue.queued;
  }

  get waitsFor(): "model" | "tool" | undefined {
    if (this.isAsking) return "model";
    return this.tools > 0 ? "tool" : undefined;
  }
}

type NodeParts = Pick<
  Node,
  "id" | "name" | "label" | "parent" | "startedAtMs" | "heardAtMs" | "totals"
>;
