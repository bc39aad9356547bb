/** The totals of a tree, folded from the events of all its runs as they come. */

import type { LoggedEvent } from "../../protocol/run-events.ts";
import { createRunFold, type RunFigures, type RunFold, toToldFigures } from "./run-figures.ts";
import { addUp, type TreeFigures } from "./tree.ts";

export interface TreeTotals {
  read(logged: LoggedEvent): void;
  /** The figures of one run; empty ones if no event of it was read. */
  figuresOf(id: string): RunFigures;
  readonly totals: TreeFigures;
}

export function createTreeTotals(): TreeTotals {
  const folds = new Map<string, RunFold>();
  /** Figures that parents report: counted for a child that has no log of its own here. */
  const told = new Map<string, RunFigures>();
  return {
    read({ run_id, event }) {
      const fold = folds.get(run_id) ?? createRunFold();
      folds.set(run_id, fold);
      fold.read(event);
      if (event.type === "child_start") told.set(event.child_id, createRunFold().figures);
      if (event.type === "child_end") told.set(event.child_id, toToldFigures(event));
    },
    figuresOf: (id) => (folds.get(id) ?? UNHEARD).figures,
    get totals() {
      const unheard = [...told].filter(([id]) => !folds.has(id));
      const heard = [...folds.values()].map(({ figures }) => figures);
      return addUp([...heard, ...unheard.map(([, figures]) => figures)]);
    },
  };
}

const UNHEARD = createRunFold();
