/**
 * The desk of `offshoot mcp serve`: agents of this folder, with the user's settings, for the program that started the
 * command.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import type { Run } from "../../runtime/runtime.ts";
import type { Desk, DeskCall, DeskPrompts, DeskRun, ServedAgent } from "../../server/mcp/desk.ts";
import { toRunLines, toRunMarkdown } from "../../server/mcp/run-texts.ts";
import type { DeskWish, OpenedDesk } from "./open-desk.ts";

const MAIN_DESCRIPTION =
  "Works on a task in this project's folder with the tools it was given: reads, searches, edits and runs what its settings allow.";

interface FolderDeskParts {
  readonly desk: OpenedDesk;
  readonly folder: string;
  readonly prompts: DeskPrompts;
  /** Agents to offer. When none is named, those whose files say `expose: mcp`. */
  readonly named: readonly string[];
}

export function createFolderDesk({ desk, folder, prompts, named }: FolderDeskParts): Desk {
  const { runtime } = desk;
  const { record } = runtime.engine;
  const working = new Map<string, Run>();
  const keep = (run: Run): DeskRun => {
    working.set(run.id, run);
    void run.result().finally(() => working.delete(run.id));
    return withTree(run);
  };
  const withTree = (run: Run): DeskRun => ({
    ...run,
    follow: (signal) => followTree(runtime.engine, run.id, { signal }),
    hasEnded: async () => (await runtime.engine.status(run.id))?.status !== "running",
  });
  /** Only runs of this folder: the record has those of all the user's projects. */
  const lookHere = async (id: string): Promise<RunRecord | undefined> => {
    const found = await record.getRun(id);
    return found && found.tenant === null && rootOf(found) === folder ? found : undefined;
  };
  const findHere = async (id: string): Promise<RunRecord> => {
    const found = await lookHere(id);
    if (found) return found;
    throw new Failure("not_found", `There is no run \`${clip(id, 64)}\` of this folder.`);
  };
  return {
    agents: toServed(desk, named),
    prompts,
    async start(agent, prompt, call) {
      const name = agent === "" ? undefined : agent;
      const own = toOwn(call);
      return keep(await desk.start({ agent: name, input: prompt, session: "new", own }));
    },
    async continueRun(id, message, call) {
      const found = await findHere(id);
      const run = await runtime.attach(found.id);
      if (found.status === "running") {
        await run.steer(message);
        return withTree(run);
      }
      const wish = { agent: agentOf(found), input: message, session: found.id, own: toOwn(call) };
      return keep(await desk.start(wish));
    },
    async find(id) {
      return withTree(await runtime.attach((await findHere(id)).id));
    },
    async list(limit) {
      // The newest runs of the folder belong to the sessions that were last used in it, which are small to read.
      const sessions = await runtime.sessions.list({ folder, limit });
      const found: RunRecord[] = [];
      // Ids sort by age.
      for (const id of sessions
        .flatMap(({ runs }) => runs)
        .sort()
        .reverse()) {
        const run = found.length < limit ? await lookHere(id) : undefined;
        if (run) found.push(run);
      }
      return found;
    },
    toMarkdown: async (id) => await toRunMarkdown(record, (await findHere(id)).id),
    toLines: async (id) => await toRunLines(record, (await findHere(id)).id),
    async close() {
      // Their endings are written before the record is closed. Else the runs would look interrupted by a crash.
      const ending = async (run: Run): Promise<unknown> => {
        await run.cancel();
        return await run.result();
      };
      await Promise.all([...working.values()].map(ending));
      await desk.close();
    },
  };
}

/**
 * Named agents must exist. Without names, the main agent is offered together with agents that ask for it.
 */
function toServed({ agents }: OpenedDesk, named: readonly string[]): ServedAgent[] {
  const missing = named.find((name) => !agents.some((agent) => agent.name === name));
  if (missing !== undefined) {
    const known =
      agents.map(({ name }) => name).join(", ") || "none yet (offshoot agents new NAME)";
    throw new Failure(
      "invalid_request",
      `Unknown agent \`${clip(missing, 64)}\`. Available: ${clip(known, 200)}.`,
    );
  }
  const offered = agents.filter(({ name, expose = [] }) =>
    named.length > 0 ? named.includes(name) : expose.includes("mcp"),
  );
  const served = offered.map(({ name, description, inputSchema, outputSchema }) => ({
    name,
    description,
    inputSchema,
    outputSchema,
  }));
  if (named.length > 0) return served;
  return [{ name: "", description: MAIN_DESCRIPTION, outputSchema: undefined }, ...served];
}

/** Runs that its agents start are one level deeper than the caller. */
function toOwn({ depth }: DeskCall): DeskWish["own"] {
  return { mcp_depth: depth + 1 };
}

function rootOf({ input }: RunRecord): unknown {
  return isJsonObject(input) ? input["root"] : undefined;
}

function agentOf({ input }: RunRecord): string | undefined {
  const agent = isJsonObject(input) ? input["agent"] : undefined;
  return typeof agent === "string" ? agent : undefined;
}
