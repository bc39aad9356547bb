/** Compacts the conversation of a replayed run where the record has it compacted, with the recorded words. */

import { addCost } from "../../agent/call-estimate.ts";
import type {
  Compacted,
  ContextKeeper,
  KeeperMoment,
  UsedContext,
} from "../../agent/context/context-keeper.ts";
import type { Item } from "../../protocol/items.ts";
import type { RunCompaction } from "../../protocol/run-events.ts";
import { addUsage } from "../../protocol/usage.ts";
import type { RecordedRun } from "./recorded-run.ts";

interface PlayedKeeping {
  /** The record, as long as nothing has been different. */
  recorded(): RecordedRun | undefined;
  /** True if the run may continue with the real model then. */
  readonly mayContinue: boolean;
}

export function wrapKeeper(
  live: ContextKeeper,
  { recorded, mayContinue }: PlayedKeeping,
): ContextKeeper {
  return {
    ...live,
    async compact(items, used, moment) {
      const run = recorded();
      if (!run) return mayContinue ? await live.compact(items, used, moment) : undefined;
      const made = moment.when === "before" ? run.compactions.get(moment.turn + 1) : undefined;
      return made && (await play(live, { items, used, moment }, made));
    },
  };
}

interface Keeping {
  readonly items: readonly Item[];
  readonly used: UsedContext;
  readonly moment: KeeperMoment;
}

/** The second compaction of a turn is for one that its vendor had refused as too long. */
async function play(
  live: ContextKeeper,
  { items, used, moment }: Keeping,
  [first, second]: readonly RunCompaction[],
): Promise<Compacted | undefined> {
  const made = await live.compact(items, used, { ...moment, recorded: first });
  if (!made || !second) return made;
  const refused = { ...moment, when: "refused", recorded: second } as const;
  const again = await live.compact(made.items, used, refused);
  return again && { items: again.items, answer: addAnswers(made.answer, again.answer) };
}

function addAnswers(one: Compacted["answer"], other: Compacted["answer"]): Compacted["answer"] {
  const cost_usd = addCost(one.cost_usd, other.cost_usd);
  return { usage: addUsage(one.usage, other.usage), cost_usd };
}
