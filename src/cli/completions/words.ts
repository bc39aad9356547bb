/**
 * Lists the words of completions that are not in the table of commands: models, runs, sessions, agents, skills. Sends
 * nothing, creates nothing.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { type Config, loadConfig } from "../../runtime/config/config.ts";
import { toRecordAddress } from "../../runtime/config/store-address.ts";
import type { CompletedKind } from "../command.ts";
import type { Io } from "../io.ts";

type Lister = (io: Io) => Promise<readonly string[]>;

const LISTERS: Readonly<Record<CompletedKind, Lister>> = {
  models: listModels,
  runs: listRuns,
  sessions: listSessions,
  agents: listAgents,
  skills: listSkills,
  templates: listTemplates,
  vendors: listVendors,
};

/** A longer list is of no use. */
const MOST_RUNS = 50;

export async function listWords(kind: string, io: Io): Promise<readonly string[]> {
  const list = isKind(kind) ? LISTERS[kind] : undefined;
  if (list) return await list(io);
  const kinds = Object.keys(LISTERS).join(", ");
  const message = `\`completions words\` takes one of ${kinds}, not \`${clip(kind, 40)}\`.`;
  throw new Failure("invalid_request", message);
}

function isKind(kind: string): kind is CompletedKind {
  return Object.hasOwn(LISTERS, kind);
}

/**
 * Models of the table and of the settings, own vendors included. A name that ends in `*` is not a model.
 */
export async function listModels(io: Io): Promise<readonly string[]> {
  const [{ MODELS }, config] = await Promise.all([
    import("../../providers/models/model-table.ts"),
    readConfig(io),
  ]);
  const known = MODELS.map(({ vendor, name }) => `${vendor}/${name}`);
  const own = Object.keys({ ...config.get("models"), ...config.get("aliases") });
  const vendors = Object.keys(config.get("vendors") ?? {}).map((vendor) => `${vendor}/`);
  const all = ["embedded", ...known, ...own, ...vendors].filter((name) => !name.includes("*"));
  return [...new Set(all)].sort();
}

async function listRuns(io: Io): Promise<readonly string[]> {
  const config = await readConfig(io);
  const { openKept } = await import("../../store/open-kept.ts");
  const kept = await openKept(toRecordAddress(config, io.env));
  if (!(await kept.maintenance.exists())) return [];
  try {
    const record = await kept.record();
    return (await record.listRuns({ limit: MOST_RUNS, parent_id: null })).map(({ id }) => id);
  } finally {
    await kept.close();
  }
}

async function listSessions(io: Io): Promise<readonly string[]> {
  const config = await readConfig(io);
  const [{ openKept }, things, { DEFAULT_TENANT }] = await Promise.all([
    import("../../store/open-kept.ts"),
    import("../../responses/conversations/session-things.ts"),
    import("../../protocol/tenant.ts"),
  ]);
  const kept = await openKept(toRecordAddress(config, io.env));
  if (!(await kept.maintenance.exists())) return [];
  try {
    const among = { tenant: DEFAULT_TENANT, kind: things.SESSION_RUN_KIND } as const;
    const runs = await (await kept.shelf()).list({ ...among, order: "newest", limit: MOST_RUNS });
    const ids = runs.flatMap(({ parent }) => (parent === null ? [] : [parent]));
    return ["last", ...new Set(ids)];
  } finally {
    await kept.close();
  }
}

async function listSkills(io: Io): Promise<readonly string[]> {
  const { openSkills } = await import("../open-skills.ts");
  return (await openSkills(io)).skills.map(({ name }) => name);
}

async function listTemplates(io: Io): Promise<readonly string[]> {
  const { openTemplates } = await import("../open-templates.ts");
  return (await openTemplates(io)).templates.map(({ name }) => name);
}

/** Vendors for which a key can be stored. */
async function listVendors(io: Io): Promise<readonly string[]> {
  const { catalogOf } = await import("../../runtime/model-address.ts");
  const catalog = catalogOf(await readConfig(io));
  return catalog.names.filter((name) => catalog.of(name).keyVariable !== undefined);
}

async function listAgents(io: Io): Promise<readonly string[]> {
  const [{ loadAgents }, { toPlaces }] = await Promise.all([
    import("../../delegation/agents/load-agents.ts"),
    import("../open-agents.ts"),
  ]);
  const { files } = await loadAgents(await toPlaces(io));
  return [...new Set(files.map(({ name }) => name))];
}

/** Without warnings: they must not appear while a word is completed. */
function readConfig({ env, home, cwd }: Io): Promise<Config> {
  return loadConfig({ env, home, cwd });
}
