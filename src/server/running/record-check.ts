/**
 * Checks a record for damage while the server answers, if it is too large to be checked before the start.
 */

import { toFailure } from "../../base/failure.ts";
import { openKept } from "../../store/open-kept.ts";

interface RecordCheckParts {
  readonly storePath: string | undefined;
  /** Called with one line: what the check has found, or why there was none. */
  readonly tell: (line: string) => unknown;
  readonly onDamage: () => void;
}

export interface RecordCheck {
  /** Ends the check if it still runs. Resolves when the file is not read any more. */
  stop(): Promise<void>;
}

export function startRecordCheck({ storePath, tell, onDamage }: RecordCheckParts): RecordCheck {
  const stopped = new AbortController();
  const checking = check().catch((thrown: unknown) => {
    if (stopped.signal.aborted) return;
    tell(`the record could not be checked: ${toFailure(thrown).message}`);
  });

  async function check(): Promise<void> {
    const { maintenance } = await openKept(storePath);
    const startedMs = performance.now();
    const damage = await maintenance.checkBeside(stopped.signal);
    if (damage) {
      onDamage();
      tell(`${damage.message} Until then /readyz answers 503, and the server continues.`);
      return;
    }
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    tell(`the record was checked: nothing is damaged (${seconds} s)`);
  }

  return {
    async stop() {
      stopped.abort();
      await checking;
    },
  };
}
