/**
 * Messages that run code looks for between two steps, without waiting. A look that finds nothing writes
 * nothing; what one found is journaled by the store as it is taken.
 */

import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { Mailbox } from "../store/mailbox.ts";
import type { OwnedRun } from "./owned-run.ts";

interface TakeParts {
  readonly store: Mailbox;
  readonly owned: OwnedRun;
}

export type Take = (topic: string, before: string) => Promise<readonly Json[]>;

/** The looks of one execution. They are told apart by the steps that follow them. */
export function createTakes({ store, owned }: TakeParts): Take {
  const used = new Set<string>();
  const { run, epoch, journal, signal } = owned;
  return async (topic, before) => {
    const key = `@take:${topic}:${before}`;
    if (used.has(key)) {
      const message = `Run ${run.id} takes \`${topic}\` twice before \`${before}\`.`;
      throw new Failure("internal", message);
    }
    used.add(key);
    const known = journal.get(key);
    if (Array.isArray(known)) return known;
    // The step was made without it: what has come since is for a later one.
    if (journal.has(before)) return [];
    signal.throwIfAborted();
    return await owned.write(() => store.takeSignals(run.id, epoch, { topic, key }));
  };
}
