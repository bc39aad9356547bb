/** Tells the user about the session that a run continues: that it is a copy, or began elsewhere. */

import type { Run, Runtime } from "../runtime/runtime.ts";
import type { SessionWish } from "../runtime/sessions/session.ts";
import type { Io } from "./io.ts";
import { toOneLine } from "./terminal.ts";

interface Telling {
  readonly runtime: Pick<Runtime, "sessions">;
  readonly session: SessionWish | undefined;
  readonly io: Pick<Io, "stderr" | "cwd">;
}

/** A run that begins a session has nothing to tell. */
export async function tellSession(run: Run, { runtime, session, io }: Telling): Promise<void> {
  const { session: id, forked } = run;
  if (session === undefined || session === "new" || id === undefined) return;
  const { title, folder } = await runtime.sessions.get(id);
  const elsewhere = folder !== null && folder !== io.cwd ? `; it began in ${folder}` : "";
  await io.stderr.write(`${toOneLine(`session: ${toStory(id, forked)}: ${title}${elsewhere}`)}\n`);
}

function toStory(id: string, forked: Run["forked"]): string {
  if (!forked) return id;
  const { session, turn, why } = forked;
  if (why === "asked") return `${id} (a fork of ${session} at turn ${turn})`;
  return `${id} (a fork: another run of ${session} is at work)`;
}
