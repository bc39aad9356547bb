/** Writes a run down and starts it: with its place in its session, and with what the session was told. */

import { type AgentTask, encodeTask, parseTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import { makeId } from "../base/ids.ts";
import { clip } from "../base/text.ts";
import { takeUp } from "../delegation/runner/take-up.ts";
import type { Engine } from "../engine/engine.ts";
import { AGENT_BODY } from "./agent-body.ts";
import { type InnerRunRequest, lastWords } from "./run-request.ts";
import type { JoinedSession } from "./sessions/begin-session.ts";
import type { OpenedSessions } from "./sessions/open-sessions.ts";

interface Submitting {
  readonly task: AgentTask;
  readonly request: InnerRunRequest;
  readonly clock: Clock;
  readonly sessions: Pick<OpenedSessions, "join">;
}

export interface SubmittedRun {
  readonly id: string;
  readonly joined?: JoinedSession | undefined;
}

/** Starts it, or continues it if another process has begun it. */
export async function submitRun(
  engine: Engine,
  { task, request, clock, sessions }: Submitting,
): Promise<SubmittedRun> {
  const { timeoutMs, place, queue } = request;
  const id = place?.id ?? makeId("run");
  if (place && (await takeUp(engine, id, clock))) return { id };
  const title = task.label ?? clip(lastWords(task.items), 80);
  const where = { id, title, timeoutMs, parent_id: place?.parent_id, path: place?.path, queue };
  if (request.session === undefined) {
    await engine.submit(AGENT_BODY, encodeTask(task), where);
    return { id };
  }
  const joining = { run: id, folder: task.root, title, nowMs: clock.now() };
  const joined = await sessions.join(request.session, joining);
  try {
    const told = await withPrompt(engine, { task, request, joined });
    const input = encodeTask({ ...told, session: joined.place });
    await engine.submit(AGENT_BODY, input, {
      ...where,
      things: joined.things,
      needs: joined.needs,
    });
  } catch (thrown) {
    await joined.undo?.();
    throw thrown;
  }
  return { id, joined };
}

interface Prompting extends Pick<Submitting, "task" | "request"> {
  readonly joined: JoinedSession;
}

/** The instructions of a session stay the same from its first run on. */
async function withPrompt(
  engine: Engine,
  { task, request, joined }: Prompting,
): Promise<AgentTask> {
  const before = joined.after === undefined ? undefined : await engine.input(joined.after);
  if (before === undefined) return task;
  const { toContinuedPrompt } = await import("./prompt/go-on-prompt.ts");
  const { instructions, told } = task;
  const isGiven = request.instructions !== undefined || told !== undefined;
  const now = isGiven ? { instructions, told } : undefined;
  const { note, ...prompt } = toContinuedPrompt(parseTask(before), now);
  return {
    ...task,
    instructions: prompt.instructions,
    told: prompt.told,
    items: note ? [note, ...task.items] : task.items,
  };
}
