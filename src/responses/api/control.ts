/**
 * A client's message to a running response or one of its subagents: to end, or something to know before the next
 * turn. Both are messages of the engine, so any process may own the run.
 */

import { z } from "zod";
import { steerRun } from "../../agent/inbox.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Engine } from "../../engine/engine.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import { toRunId } from "../fold/response-object.ts";
import { cancelRun } from "../follow/run-response.ts";

/** The subagent's place below the response, as its run has it: `parser-1.0`. */
const subagent = z.string().nullable().optional();

export const CancelResponse = open({ subagent });
export const SteerResponse = open({ text: z.string(), subagent });

export interface SteeredResponse {
  readonly id: string;
  readonly object: "response.steered";
  /** Null if the message is for the response itself. */
  readonly subagent: string | null;
}

/** Undefined if the whole response is meant. */
export function readSubagent(body: unknown): string | undefined {
  return parseAs(CancelResponse, body, "request").subagent ?? undefined;
}

/** Ends one subagent with all below it. The response continues, and its model reads that the subagent was cancelled. */
export async function cancelSubagent(place: Engine, id: string, name: string): Promise<void> {
  await cancelRun(place, await findSubagent(place, toRunId(id), name));
}

/** Leaves a message. Rejects with `conflict` if it is too late. */
export async function steerResponse(
  place: Engine,
  id: string,
  body: unknown,
): Promise<SteeredResponse> {
  const { text, subagent: name = null } = parseAs(SteerResponse, body, "request");
  const runId = toRunId(id);
  const run = name === null ? runId : await findSubagent(place, runId, name);
  await steerRun(place, run, text).catch((thrown: unknown) => {
    if (!(thrown instanceof Failure) || thrown.code !== "conflict") throw thrown;
    const what = name === null ? "This response" : `The subagent \`${clip(name, 80)}\``;
    throw new Failure("conflict", `${what} has ended.`);
  });
  return { id, object: "response.steered", subagent: name };
}

/** The most names in the message to a client that gave a wrong one. */
const MAX_NAMED = 20;

/** Everything below a response belongs to the response's owner. */
async function findSubagent(engine: Engine, runId: string, name: string): Promise<string> {
  const id = `${runId}/${name}`;
  if (await engine.status(id)) return id;
  const query = { parent_id: runId, status: "running", limit: MAX_NAMED } as const;
  const names = (await engine.record.listRuns(query)).map(
    (run) => `\`${run.id.slice(runId.length + 1)}\``,
  );
  const known = names.length === 0 ? "None runs now." : `Those that run: ${names.join(", ")}.`;
  const message = `This response has no subagent \`${clip(name, 80)}\`. ${known}`;
  throw new Failure("not_found", message, { param: "subagent" });
}
