/** Which runs an undo takes back: one with all below it, or those of a session after a turn. */

import { Failure } from "../../base/failure.ts";
import type { RecordReader } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import { readRunItems } from "../../responses/conversations/keep-runs.ts";
import { countTurns } from "../../responses/conversations/session-turns.ts";
import type { SessionSummary, Sessions } from "../sessions/session.ts";
import type { UndoneRun } from "./read-changes.ts";

interface Parts {
  readonly record: RecordReader;
  readonly sessions: Pick<Sessions, "get" | "turns">;
}

interface Turns {
  /** Changes after this turn are undone; 0 for all. */
  readonly after: number;
  /** And none after this one: where a fork left the session. */
  readonly upTo: number;
}

/**
 * The oldest first. A fork begins with turns of another session: what these did to files belongs to that session's
 * runs.
 */
export async function findRunsAfter(
  parts: Parts,
  session: string,
  { after, upTo }: Turns = { after: 0, upTo: Number.POSITIVE_INFINITY },
): Promise<readonly UndoneRun[]> {
  const { record, sessions } = parts;
  const summary = await sessions.get(session);
  const all = (await sessions.turns(summary.id)).length;
  const counted = await countEach(record, summary);
  const copied = all - counted.reduce((sum, { turns }) => sum + turns, 0);
  if (after > all) {
    const message = `The session has ${all} turns, and no turn ${after}.`;
    throw new Failure("invalid_request", message);
  }
  const { forked_from: fork } = summary;
  const found: UndoneRun[] = [];
  if (fork && after < copied) {
    const before = { after, upTo: Math.min(upTo, fork.turn) };
    // A session that is gone has no runs to undo.
    found.push(...(await findRunsAfter(parts, fork.session, before).catch(unlessGone)));
  }
  let first = copied;
  for (const { id, turns } of counted) {
    const from = after - first;
    const to = upTo - first;
    first += turns;
    if (from >= turns || to <= 0) continue;
    found.push({
      id,
      sinceMs: from > 0 ? await findTurnStart(record, id, from + 1) : undefined,
      untilMs: to < turns ? await findTurnStart(record, id, to + 1) : undefined,
    });
  }
  return found;
}

function unlessGone(thrown: unknown): readonly UndoneRun[] {
  if (thrown instanceof Failure && thrown.code === "not_found") return [];
  throw thrown;
}

async function countEach(
  record: RecordReader,
  { runs }: SessionSummary,
): Promise<readonly { readonly id: string; readonly turns: number }[]> {
  const counted = [];
  for (const id of runs) {
    counted.push({ id, turns: countTurns(await readRunItems(record, id)) });
  }
  return counted;
}

/** When a turn of a run began; the end of the run if it has no turn with that number. */
async function findTurnStart(record: RecordReader, id: string, turn: number): Promise<number> {
  for await (const page of readLog(record, id)) {
    for (const { event } of page) {
      if (event.type === "turn_start" && event.turn >= turn) return event.at_ms;
    }
  }
  return Number.POSITIVE_INFINITY;
}
