/**
 * Finds a run by any of its names: its id or the beginning of it, `last`, and for a subagent the name of a run above
 * it with the place below that (`last/parser-1.0`), or its label if no other run has it. All commands read names
 * here.
 */

import { Failure } from "../base/failure.ts";
import { clip } from "../base/text.ts";
import { readTree, toNodeName } from "../delegation/ledger/tree.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import { toRunId } from "../responses/fold/response-object.ts";
import { INDEX_BODY } from "../responses/vector-stores/index-runs.ts";
import type { RunReader } from "../store/run-reader.ts";
import { isServers } from "./run-state.ts";

/** The kinds of names, one line each, for the docs. */
export const RUN_NAMES = {
  "run_01k…": "The id, or a beginning of it that no other run has",
  last: "The newest run that is not a subagent",
  "last/parser-1.0":
    "A subagent, by its place below a run with any of these names; `runs tree` shows the places",
  "parser-1.0":
    "A subagent of the newest tree that has one of this name; also as a path: `/root/parser-1.0`",
  '"part 01"':
    "A subagent by its label, if no other of its tree has the same; also after a run: `last/part 01`",
  "resp_01k…": "A response of a server",
} as const;

const LAST = "last";
/** How many runs are searched for the beginning of an id. */
const MAX_LOOKED_AT = 1000;

export async function findRun(record: RunReader, given: string): Promise<RunRecord> {
  const exact = await record.getRun(given);
  if (exact) return exact;
  // A path begins with the tree's root in place of an id.
  if (given.startsWith("/root/")) return await findTop(record, given.slice("/root/".length));
  const slash = given.indexOf("/");
  if (slash < 0) return await findTop(record, given);
  const name = given.slice(0, slash);
  const place = given.slice(slash + 1);
  const top = await findTop(record, name);
  return await findBelow(record, top, place.replace(/\/+$/, ""));
}

/**
 * Finds a node of a tree by an id that is named from outside of it. Any other name is one in the tree.
 */
export async function findNode(record: RunReader, node: string): Promise<string> {
  if (!OUTSIDE.test(node)) return node;
  return (await findRun(record, node).catch(() => undefined))?.id ?? node;
}

const OUTSIDE = /^(last|(run|resp)_[^/]*)(\/|$)/;

async function findTop(record: RunReader, name: string): Promise<RunRecord> {
  if (name === LAST) return await findLast(record);
  if (name.startsWith("resp_")) return await findResponse(record, name);
  const { run, near, recent } = await findByBeginning(record, name);
  if (run) return run;
  if (near.length > 0) throw toAmbiguous(name, near);
  const named = recent.find(({ id, parent_id }) => parent_id !== null && toNodeName(id) === name);
  const labelled = named ?? findByLabel(recent, name);
  if (labelled) return labelled;
  const where =
    "`offshoot runs list` has the ids, `offshoot runs tree last` the names of subagents";
  throw new Failure("not_found", `There is no run \`${clip(name, 80)}\`. ${where}.`);
}

/**
 * A response of a server is a run with another name. A run of the command line is not a response.
 */
async function findResponse(record: RunReader, name: string): Promise<RunRecord> {
  const isResponse = (run: RunRecord): boolean => isServers(run) && run.name !== INDEX_BODY;
  const { run, near } = await findByBeginning(record, toRunId(name), isResponse);
  if (run) return run;
  if (near.length > 0) throw toAmbiguous(name, near);
  const hint = "`offshoot runs list` has the ids of runs and responses";
  throw new Failure("not_found", `There is no response \`${clip(name, 80)}\`. ${hint}.`);
}

/**
 * The subagent of the newest tree with this label, if there is one. A child's title is its label.
 */
function findByLabel(recent: readonly RunRecord[], label: string): RunRecord | undefined {
  const labelled = recent.filter(({ parent_id, title }) => parent_id !== null && title === label);
  const [newest] = labelled;
  if (!newest) return undefined;
  const same = labelled.filter(({ id }) => rootOf(id) === rootOf(newest.id));
  if (same.length === 1) return newest;
  const what = `\`${clip(label, 80)}\` is the label of ${same.length} subagents (${listSome(same)})`;
  throw new Failure(
    "not_found",
    `${what}. Write the name of one, as in the brackets of \`runs tree\`.`,
  );
}

function rootOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}

async function findLast(record: RunReader): Promise<RunRecord> {
  const [last] = await record.listRuns({ limit: 1, parent_id: null, without: INDEX_BODY });
  if (last) return last;
  throw new Failure("not_found", 'There is no run yet. Start one: offshoot run "…"');
}

async function findBelow(record: RunReader, { id }: RunRecord, place: string): Promise<RunRecord> {
  if (place === "") {
    const message = `The name of the subagent is missing after \`/\`. \`offshoot runs tree ${id}\` has their names.`;
    throw new Failure("not_found", message);
  }
  const exact = await record.getRun(`${id}/${place}`);
  if (exact) return exact;
  const { run, near, recent } = await findByBeginning(record, `${id}/${place}`);
  if (run) return run;
  if (near.length > 0) throw toAmbiguous(place, near);
  const below = recent.filter((one) => one.id.startsWith(`${id}/`));
  const labelled = findByLabel(below, place);
  if (labelled) return labelled;
  await refuseQueued(record, id, place);
  const what = `Run ${id} has no subagent \`${clip(place, 80)}\``;
  throw new Failure("not_found", `${what}. \`offshoot runs tree ${id}\` has their names.`);
}

/** A subagent that waits for its start has a name in the tree, but no run yet. */
async function refuseQueued(record: RunReader, id: string, place: string): Promise<void> {
  const { queued } = await readTree(record, id);
  const isMeant = (one: { readonly id: string | null; readonly label: string }): boolean =>
    one.id === `${id}/${place}` || one.label === place;
  if (!queued.some(isMeant)) return;
  const message = `\`${clip(place, 80)}\` waits to be started and has no run yet. It can be watched, steered and stopped once it runs; \`offshoot runs cancel ${id}\` stops them all.`;
  throw new Failure("conflict", message);
}

interface Near {
  /** The run whose id begins so, with the rest of the name. */
  readonly run: RunRecord | undefined;
  readonly near: readonly RunRecord[];
  /** All runs that were searched, the newest first. */
  readonly recent: readonly RunRecord[];
}

async function findByBeginning(
  record: RunReader,
  beginning: string,
  counts: (run: RunRecord) => boolean = () => true,
): Promise<Near> {
  const recent = beginning === "" ? [] : await record.listRuns({ limit: MAX_LOOKED_AT });
  const near = recent.filter((run) => run.id.startsWith(beginning) && counts(run));
  const run = near.find((one) =>
    near.every((other) => other === one || other.id.startsWith(`${one.id}/`)),
  );
  return { run, near, recent };
}

function toAmbiguous(name: string, near: readonly RunRecord[]): Failure {
  const what = `\`${clip(name, 80)}\` is the beginning of ${near.length} runs (${listSome(near)})`;
  return new Failure("not_found", `${what}. Write more of the id.`);
}

function listSome(runs: readonly RunRecord[]): string {
  const some = runs.slice(0, 3).map(({ id }) => id);
  return runs.length > some.length ? `${some.join(", ")}, …` : some.join(", ");
}
