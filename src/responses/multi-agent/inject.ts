/**
 * Takes the client's answers to calls of a response that still runs. They are left as a message for its run, in
 * whichever process it works; the result is in its log (`client_input`, `client_refused`).
 */

import { parseTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { RunStatus } from "../../protocol/run-record.ts";
import { toRunId } from "../fold/response-object.ts";
import { withId } from "../fold/with-id.ts";
import { readWish } from "../request/response-wish.ts";
import type { Caller } from "../tenant/caller.ts";
import { TEAM_TOPIC, toSignal } from "./team-messages.ts";

export interface InjectParts {
  readonly durable: Engine;
  readonly passing: Engine;
  /** Items of a client, checked and limited as those of a request. */
  readonly findInput: (input: unknown, caller: Caller) => Promise<readonly Item[]>;
}

interface Injection {
  readonly id: string;
  readonly input: unknown;
  readonly caller: Caller;
}

/** More than a client sends at once; the run reads its log for each of them. */
const MAX_WAITING = 64;

export function createInject(parts: InjectParts): (injection: Injection) => Promise<void> {
  /** The number of messages that this process waits for, by response. */
  const waiting = new Map<string, number>();
  return async (injection) => {
    const { id } = injection;
    const count = waiting.get(id) ?? 0;
    if (count >= MAX_WAITING) {
      throw new Failure(
        "rate_limited",
        "Too many requests to this response are waiting. Try again when one has been answered.",
      );
    }
    waiting.set(id, count + 1);
    try {
      await inject(parts, injection);
    } finally {
      const left = (waiting.get(id) ?? 1) - 1;
      if (left > 0) waiting.set(id, left);
      else waiting.delete(id);
    }
  };
}

async function inject(parts: InjectParts, { id, input, caller }: Injection): Promise<void> {
  const { place, run } = await findTeam(parts, id, caller);
  const items = (await parts.findInput(input, caller)).map(withId);
  const answers = { key: makeId("inj"), items };
  const message = toSignal({ kind: "injected", answers });
  await place.signal(run.id, TEAM_TOPIC, message).catch(toEnded);
  for await (const batch of place.follow(run.id, run.next_seq - 1)) {
    if (batch.some((logged) => isTaken(logged, answers.key))) return;
  }
  throw new Failure("conflict", "This response has ended.");
}

/** The run of a response that has a team and still works. */
async function findTeam(
  { durable, passing }: InjectParts,
  id: string,
  { tenant }: Caller,
): Promise<{ readonly place: Engine; readonly run: RunStatus }> {
  for (const place of [durable, passing]) {
    const run = await place.status(toRunId(id));
    const task = run && (await place.input(run.id));
    if (!run || task === undefined) continue;
    const wish = readWish(parseTask(task).response ?? {});
    if (wish.tenant !== tenant) continue;
    if (run.status === "ended") throw new Failure("conflict", "This response has ended.");
    if (wish.multi_agent === null) break;
    if (run.owner === null) throw new Failure("conflict", "This response has not begun yet.");
    return { place, run };
  }
  throw new Failure("not_found", "This response waits for no call.");
}

/** Throws the reason if the answers were not taken. */
function isTaken({ event }: LoggedEvent, key: string): boolean {
  if (event.type === "client_refused" && event.key === key) {
    const { code, message, param } = event.error;
    throw new Failure(code, message, { param });
  }
  return event.type === "client_input" && event.key === key;
}

function toEnded(thrown: unknown): never {
  if (!(thrown instanceof Failure) || thrown.code !== "conflict") throw thrown;
  throw new Failure("conflict", "This response has ended.");
}
