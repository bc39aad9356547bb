/**
 * Brings the runs of a process to rest before it stops. A run without followers stops where it asks for a rest
 * (`RunContext.rest`), between two calls; a run with followers continues. So the current calls of models and tools are
 * finished and journaled, and the next owner does not repeat them.
 */

import type { OwnedRun } from "./owned-run.ts";

export interface Resting {
  /** Waits until the run is lost, if this process stops; otherwise it resolves at once. */
  rest(owned: OwnedRun): Promise<void>;
  /** Notes a step that runs, by its key. */
  begin(owned: OwnedRun, key: string): void;
  end(owned: OwnedRun, key: string): void;
  /** Notes that a step (all of the run if no key is given) does nothing until other runs have. */
  wait<Out>(owned: OwnedRun, key: string | undefined, work: () => Promise<Out>): Promise<Out>;
  /** Resolves when every run is resting, waiting, or has ended. From here on runs rest. */
  drain(): Promise<void>;
  /** Called when a run has ended, or was lost. */
  changed(): void;
  readonly isDraining: boolean;
}

/** What a run is doing. */
interface Doing {
  readonly steps: Set<string>;
  readonly waits: Map<string | undefined, number>;
  isResting: boolean;
}

/** `owned` are the runs of this process. */
export function createResting(
  owned: ReadonlyMap<string, OwnedRun>,
  isFollowed: (id: string) => boolean,
): Resting {
  const all = new WeakMap<OwnedRun, Doing>();
  let isDraining = false;
  let onQuiet: (() => void)[] = [];

  function of(run: OwnedRun): Doing {
    const known = all.get(run);
    if (known) return known;
    const doing: Doing = { steps: new Set(), waits: new Map(), isResting: false };
    all.set(run, doing);
    return doing;
  }

  function changed(): void {
    if (!isDraining || ![...owned.values()].every((run) => isQuiet(of(run)))) return;
    const told = onQuiet;
    onQuiet = [];
    for (const resolve of told) resolve();
  }

  return {
    get isDraining() {
      return isDraining;
    },
    async rest(run) {
      if (!isDraining || isFollowed(rootOf(run.run.id))) return;
      of(run).isResting = true;
      changed();
      await untilLost(run.signal);
    },
    begin: (run, key) => void of(run).steps.add(key),
    end(run, key) {
      of(run).steps.delete(key);
      changed();
    },
    async wait(run, key, work) {
      const { waits } = of(run);
      waits.set(key, (waits.get(key) ?? 0) + 1);
      changed();
      try {
        return await work();
      } finally {
        const left = (waits.get(key) ?? 1) - 1;
        if (left > 0) waits.set(key, left);
        else waits.delete(key);
      }
    },
    drain() {
      isDraining = true;
      return new Promise((resolve) => {
        onQuiet.push(resolve);
        changed();
      });
    },
    changed,
  };
}

/** True if stopping now loses nothing: its next work comes after other runs have done something. */
function isQuiet({ steps, waits, isResting }: Doing): boolean {
  if (isResting || waits.has(undefined)) return true;
  return waits.size > 0 && [...steps].every((key) => waits.has(key));
}

/** A child's id begins with its root's. */
function rootOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}

function untilLost(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
  });
}
