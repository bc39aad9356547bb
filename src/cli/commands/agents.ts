/** `offshoot agents`: the agents that runs may delegate to, as files of the user and of the project. */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip, nearest, plural } from "../../base/text.ts";
import { toProjectAgentsFolder } from "../../delegation/agents/agent-folders.ts";
import {
  callProblem,
  findAgentProblems,
  type Known,
} from "../../delegation/agents/agent-problems.ts";
import { toAgentTemplate } from "../../delegation/agents/agent-template.ts";
import { AGENT_NAME, type AgentDefinition } from "../../delegation/agents/definition.ts";
import {
  type AgentFile,
  type LoadedAgents,
  loadAgents,
} from "../../delegation/agents/load-agents.ts";
import { parseModelRef } from "../../providers/models/model-ref.ts";
import { checkProvider } from "../../providers/models/provider-names.ts";
import type { Config } from "../../runtime/config/config.ts";
import { catalogOf } from "../../runtime/model-address.ts";
import { userPaths } from "../../runtime/paths.ts";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import { toRuntimeOptions } from "../../runtime/settings.ts";
import type { CommandCall } from "../command.ts";
import type { Io } from "../io.ts";
import { toPlaces, toUserFolder } from "../open-agents.ts";
import { openConfig } from "../open-config.ts";
import { cleanForTerminal, toOneLine } from "../terminal.ts";
import { isRemote, usualToolsHere } from "../usual-tools.ts";

export async function run(call: CommandCall, io: Io): Promise<number> {
  const [action = "list", ...words] = call.words;
  const act = ACTIONS[action];
  if (!act) throw new Failure("invalid_request", `Unknown command \`offshoot agents ${action}\`.`);
  const [min, max] = act.words;
  if (words.length < min || words.length > max) {
    const line = `offshoot agents ${action} ${act.usage}`.trim();
    throw new Failure("invalid_request", `Write \`${line}\`.`);
  }
  return await act.run({
    io,
    name: words[0],
    isJson: call.options["json"] === true,
    isProject: call.options["project"] === true,
  });
}

interface Action {
  readonly io: Io;
  readonly name: string | undefined;
  readonly isJson: boolean;
  readonly isProject: boolean;
}

interface ActionRow {
  readonly usage: string;
  /** The least and the most words it takes. */
  readonly words: readonly [number, number];
  /** Resolves with the exit code. */
  readonly run: (action: Action) => Promise<number>;
}

const ACTIONS: Readonly<Record<string, ActionRow | undefined>> = {
  list: { usage: "", words: [0, 0], run: list },
  show: { usage: "NAME", words: [1, 1], run: show },
  new: { usage: "NAME", words: [1, 1], run: create },
  check: { usage: "[NAME]", words: [0, 1], run: check },
  trust: { usage: "NAME", words: [1, 1], run: trustAgent },
  untrust: { usage: "NAME", words: [1, 1], run: untrustAgent },
};

const STANDINGS = {
  used: "",
  shadowed: "the project's own is used",
  untrusted: "not trusted",
  changed: "changed since it was trusted",
  broken: "broken",
} as const;

async function list({ io, isJson }: Action): Promise<number> {
  const files = await withCallProblems(io, (await load(io)).files);
  if (isJson) return printJson(io, files.map(toShown));
  if (files.length === 0) {
    await io.stderr.write("No agents yet. Make one: offshoot agents new NAME\n");
  }
  const width = Math.max(...files.map(({ name }) => name.length), 0);
  for (const { name, scope, standing, definition, problem } of files) {
    const marks = [STANDINGS[standing], definition ? problem : ""].filter((one) => one !== "");
    const mark = marks.length === 0 ? "" : ` (${marks.join("; ")})`;
    const text = clip(definition?.description ?? problem, 100);
    await print(io, `${toOneLine(`${name.padEnd(width)}  ${scope.padEnd(7)}  ${text}${mark}`)}\n`);
  }
  return 0;
}

async function show({ io, name = "", isJson }: Action): Promise<number> {
  const found = findFile(name, await load(io));
  const [file = found] = await withCallProblems(io, [found]);
  if (isJson) return printJson(io, toShown(file));
  const { definition, path, standing, problem } = file;
  const budget = Object.entries(definition?.budget ?? {}).map(([kind, most]) => `${kind} ${most}`);
  const { tools } = definition ?? {};
  const rows: readonly (readonly [string, string])[] = [
    ["file", path],
    ["standing", STANDINGS[standing] || "used"],
    ...(problem === "" ? [] : [["problem", problem] as const]),
    ["description", definition?.description ?? "-"],
    ["model", definition?.model ?? "its parent's"],
    ...toAddressRows(definition),
    ...(definition?.options ? [["options", JSON.stringify(definition.options)] as const] : []),
    ["tools", tools === undefined ? "its parent's" : tools.join(", ") || "none"],
    ["budget", budget.join(", ") || "its share of its parent's"],
    ["answers", toAnswers(definition)],
  ];
  for (const [key, value] of rows) await print(io, `${key.padEnd(11)}  ${toOneLine(value)}\n`);
  if (definition) await print(io, `\n${definition.instructions}\n`);
  return 0;
}

/** The address of its model, if the file says it. */
function toAddressRows({
  url,
  provider,
  apiKeyName,
}: Partial<AgentDefinition> = {}): [string, string][] {
  const rows = { url, provider, key: apiKeyName };
  return Object.entries(rows).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, value]],
  );
}

function toAnswers({ outputSchema, outputMode }: Partial<AgentDefinition> = {}): string {
  if (outputSchema) return "JSON that fits its schema";
  return outputMode === undefined ? "text" : "a JSON object";
}

async function create({ io, name = "", isProject }: Action): Promise<number> {
  if (!AGENT_NAME.test(name)) {
    const message = `\`${clip(name, 64)}\` is not a valid name of an agent: use small letters, digits, \`-\` and \`_\`, a letter first.`;
    throw new Failure("invalid_request", message);
  }
  const folder = isProject ? toProjectAgentsFolder(io.cwd, io.home) : toUserFolder(io);
  if (folder === undefined) {
    const message = "The home folder is not a project. Leave `--project` out.";
    throw new Failure("invalid_request", message);
  }
  const path = join(folder, `${name}.md`);
  await writeNew(path, toAgentTemplate(name));
  await io.stdout.write(`Created ${path}. Edit it, then: offshoot agents check ${name}\n`);
  if (isProject) {
    await io.stdout.write(`Not used yet: run \`offshoot agents trust ${name}\` first\n`);
  }
  return 0;
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: "wx" });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === "EEXIST" ? "exists already" : `cannot be written (${code})`;
    throw new Failure("invalid_request", `${path} ${reason}.`, { cause });
  }
}

/** Checks every file, also those that are not used yet. Exit code 1 if something is wrong. */
async function check({ io, name, isJson }: Action): Promise<number> {
  const loaded = await load(io);
  if (name !== undefined) findFile(name, loaded);
  const files = loaded.files.filter((file) => name === undefined || file.name === name);
  const known = await openKnown(io, files);
  const problems = await Promise.all(
    files.map(async ({ definition, problem }) =>
      definition ? await findAgentProblems(definition, known) : [problem],
    ),
  );
  const lines = problems.flat();
  if (isJson) await printJson(io, { checked: files.length, problems: lines });
  else if (lines.length === 0) await io.stdout.write(`${plural(files.length, "agent")} checked.\n`);
  else for (const line of lines) await io.stderr.write(`${toOneLine(line)}\n`);
  return lines.length > 0 ? 1 : 0;
}

/**
 * Adds the reason why a run cannot call an agent: its tools are not among those that a run has here.
 */
async function withCallProblems(
  io: Io,
  files: readonly AgentFile[],
): Promise<readonly AgentFile[]> {
  const wanted = files.flatMap(({ definition }) => definition?.tools ?? []);
  if (wanted.length === 0) return files;
  const usual = await withRuntime(io, async (runtime, config) => [
    ...(await usualToolsHere(config, runtime)),
    ...wanted.filter(isRemote),
  ]);
  return files.map((file) => {
    const { definition, problem } = file;
    const problems = definition ? callProblem(definition, usual) : [];
    return { ...file, problem: [problem, ...problems].filter((one) => one !== "").join(" ") };
  });
}

async function withRuntime<Made>(
  io: Io,
  make: (runtime: Runtime, config: Config) => Promise<Made>,
): Promise<Made> {
  const config = await openConfig({}, io);
  const options = toRuntimeOptions(config, io);
  const runtime = await createRuntime({ ...options, storePath: undefined, engine: "own" });
  try {
    return await make(runtime, config);
  } finally {
    await runtime.close();
  }
}

/** MCP servers are started only for an agent that names a tool which nothing else has. */
async function openKnown(io: Io, files: readonly AgentFile[]): Promise<Known> {
  return await withRuntime(io, async (runtime, config) => {
    const wanted = files.flatMap(({ definition }) => definition?.tools ?? []);
    const isHere = wanted.every((tool) => runtime.toolNames.includes(tool));
    const tools = isHere ? runtime.toolNames : await runtime.listTools();
    const isCustom = config.get("url") !== undefined;
    const catalog = catalogOf(config);
    const checkModel = (model: string): void => {
      parseModelRef(model, isCustom ? "custom" : undefined, catalog);
    };
    const usual = [...(await usualToolsHere(config, runtime)), ...wanted.filter(isRemote)];
    return { tools, usual, checkModel, checkProvider };
  });
}

async function trustAgent({ io, name = "" }: Action): Promise<number> {
  const file = findProjectAgent(name, await load(io));
  if (!file.definition) throw new Failure("invalid_request", file.problem);
  const { trust } = await import("../../runtime/trust.ts");
  const { trustFile } = userPaths(io.env, io.home);
  for (const one of file.files) {
    await trust(trustFile, one);
    await io.stdout.write(`${one.path} is now trusted. Trust it again after you change it.\n`);
  }
  return 0;
}

async function untrustAgent({ io, name = "" }: Action): Promise<number> {
  const { path } = findProjectAgent(name, await load(io));
  const { untrust } = await import("../../runtime/trust.ts");
  const wasTrusted = await untrust(userPaths(io.env, io.home).trustFile, path);
  await io.stdout.write(`${path} ${wasTrusted ? "is no longer trusted" : "was not trusted"}.\n`);
  return 0;
}

async function load(io: Io): Promise<LoadedAgents> {
  return await loadAgents(await toPlaces(io));
}

/** The file that is used, or the only one with this name. */
function findFile(name: string, { files }: LoadedAgents): AgentFile {
  const named = files.filter((file) => file.name === name);
  const found = named.find(({ standing }) => standing === "used") ?? named.at(-1);
  if (found) return found;
  const near = nearest(
    name,
    files.map((file) => file.name),
  );
  const hint = near ? `Did you mean \`${near}\`?` : "See `offshoot agents list`.";
  throw new Failure("not_found", `Unknown agent \`${clip(name, 64)}\`. ${hint}`);
}

function findProjectAgent(name: string, loaded: LoadedAgents): AgentFile {
  const files = loaded.files.filter(({ scope }) => scope === "project");
  if (files.length > 0) return findFile(name, { ...loaded, files });
  throw new Failure("not_found", "There are no agents of a project here. Your own need no trust.");
}

function toShown({ name, path, scope, standing, definition, problem }: AgentFile): object {
  const { description, model, options, tools, budget, outputMode, outputSchema, instructions } =
    definition ?? {};
  return {
    name,
    path,
    scope,
    standing,
    problem: problem === "" ? null : problem,
    description: description ?? null,
    model: model ?? null,
    url: definition?.url ?? null,
    provider: definition?.provider ?? null,
    api_key_name: definition?.apiKeyName ?? null,
    options: options ?? null,
    tools: tools ?? null,
    budget: budget ?? {},
    input_schema: definition?.inputSchema ?? null,
    output_mode: outputMode ?? null,
    output_schema: outputSchema ?? null,
    instructions: instructions ?? null,
  };
}

async function print(io: Io, text: string): Promise<void> {
  await io.stdout.write(cleanForTerminal(text));
}

async function printJson(io: Io, value: unknown): Promise<number> {
  await io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  return 0;
}
