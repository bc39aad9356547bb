/** The desk of `offshoot mcp serve`: agents of this folder, under the user's settings, for whoever started the program. */

import { Failure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { createJsonLines } from "../../delegation/ledger/json-line.ts";
import { readTree } from "../../delegation/ledger/tree.ts";
import { readTreeEvents } from "../../delegation/ledger/tree-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import type { Run } from "../../runtime/runtime.ts";
import type { Desk, DeskRun, ServedAgent } from "../../server/mcp/desk.ts";
import { followTree } from "../output/follow-tree.ts";
import type { OpenedDesk } from "./open-desk.ts";

const MAIN_DESCRIPTION =
  "Works on a task in this project's folder with the tools it was given: reads, searches, edits and runs what its settings allow.";

interface FolderDeskParts {
  readonly desk: OpenedDesk;
  readonly folder: string;
  /** Agents to offer; those whose files say `expose: mcp` when none is named. */
  readonly named: readonly string[];
}

export function createFolderDesk({ desk, folder, named }: FolderDeskParts): Desk {
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
  /** Runs of this folder alone: the record has those of every project of the user. */
  const findHere = async (id: string): Promise<RunRecord> => {
    const found = await record.getRun(id);
    if (found && found.tenant === null && rootOf(found) === folder) return found;
    throw new Failure("not_found", `There is no run \`${clip(id, 64)}\` of this folder.`);
  };
  return {
    agents: toServed(desk, named),
    async start(agent, prompt) {
      const name = agent === "" ? undefined : agent;
      return keep(await desk.start({ agent: name, input: prompt, session: "new" }));
    },
    async goOn(id, message) {
      const found = await findHere(id);
      const run = await runtime.attach(found.id);
      if (found.status === "running") {
        await run.steer(message);
        return withTree(run);
      }
      return keep(await desk.start({ agent: agentOf(found), input: message, session: found.id }));
    },
    async find(id) {
      return withTree(await runtime.attach((await findHere(id)).id));
    },
    async list(limit) {
      const runs = await record.listRuns({ limit: limit * 4, parent_id: null });
      return runs.filter((run) => run.tenant === null && rootOf(run) === folder).slice(0, limit);
    },
    async toMarkdown(id) {
      const { renderSession } = await import("../../delegation/ledger/session.ts");
      const tree = await readTree(record, (await findHere(id)).id);
      let text = "";
      for await (const piece of renderSession(record, tree)) text += piece;
      return text;
    },
    async toLines(id) {
      const toLine = createJsonLines();
      let text = "";
      for await (const logged of readTreeEvents(record, (await findHere(id)).id))
        text += toLine(logged);
      return text;
    },
    async close() {
      await Promise.all([...working.values()].map((run) => run.cancel()));
      await desk.close();
    },
  };
}

/** Named ones must be there; without names the main agent is offered beside those that ask for it. */
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
  const served = offered.map(({ name, description, outputSchema }) => ({
    name,
    description,
    outputSchema,
  }));
  if (named.length > 0) return served;
  return [{ name: "", description: MAIN_DESCRIPTION, outputSchema: undefined }, ...served];
}

function rootOf({ input }: RunRecord): unknown {
  return isJsonObject(input) ? input["root"] : undefined;
}

function agentOf({ input }: RunRecord): string | undefined {
  const agent = isJsonObject(input) ? input["agent"] : undefined;
  return typeof agent === "string" ? agent : undefined;
}
