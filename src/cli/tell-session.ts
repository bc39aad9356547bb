/**
 * Tells the user about the session that a run continues: that it is a copy, began elsewhere, or asked another model
 * before.
 */

import type { Run, Runtime } from "../runtime/runtime.ts";
import type { SessionWish } from "../runtime/sessions/session.ts";
import { readEarlierModel } from "./earlier-model.ts";
import type { Io } from "./io.ts";
import type { PickedModel } from "./pick-model.ts";
import { toOneLine } from "./terminal.ts";

interface Telling {
  readonly runtime: Pick<Runtime, "sessions" | "engine">;
  readonly session: SessionWish | undefined;
  /** The model of the run. */
  readonly choice: Pick<PickedModel, "ref">;
  readonly io: Pick<Io, "stderr" | "cwd">;
}

/** A run that begins a session has nothing to tell. */
export async function tellSession(run: Run, telling: Telling): Promise<void> {
  const { runtime, session, choice, io } = telling;
  const { session: id, forked } = run;
  if (session === undefined || session === "new" || id === undefined) return;
  const { title, folder, runs } = await runtime.sessions.get(id);
  // A new fork has no run of its own before this one.
  const earlier = runs.filter((one) => one !== run.id).at(-1);
  const before = await readEarlierModel(runtime.engine.record, earlier, choice.ref);
  const elsewhere = folder !== null && folder !== io.cwd ? `; it began in ${folder}` : "";
  await io.stderr.write(`${toOneLine(`session: ${toStory(id, forked)}: ${title}${elsewhere}`)}\n`);
  if (before !== undefined) {
    await io.stderr.write(`${toOneLine(`The last answer of this session came from ${before}.`)}\n`);
  }
}

function toStory(id: string, forked: Run["forked"]): string {
  if (!forked) return id;
  const { session, turn, why } = forked;
  if (why === "asked") return `${id} (a fork of ${session} at turn ${turn})`;
  return `${id} (a fork: another run of ${session} is at work)`;
}
