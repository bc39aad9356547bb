/**
 * `offshoot run`: runs one prompt through an agent. Everything is checked before anything is sent.
 */

import { toOutputFormat } from "../../agent/output-mode.ts";
import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import { loadAgents } from "../../delegation/agents/load-agents.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import { isDelegating } from "../../delegation/tools/names.ts";
import type { OutputFormat } from "../../providers/provider.ts";
import type { Config } from "../../runtime/config/config.ts";
import { withOrigin } from "../../runtime/config/setting-origin.ts";
import type { Network } from "../../runtime/network.ts";
import { pickTools } from "../../runtime/pick-tools.ts";
import type { InnerRunRequest } from "../../runtime/run-request.ts";
import {
  createRuntime,
  type Run,
  type Runtime,
  type RuntimeOptions,
} from "../../runtime/runtime.ts";
import { toGivenRules, toRuntimeOptions } from "../../runtime/settings.ts";
import { createAskOnTerminal } from "../ask-on-terminal.ts";
import type { CommandCall, Options, RunCommand } from "../command.ts";
import { createCommandNetwork } from "../command-network.ts";
import { findFilesInPrompt, readUserMessage } from "../input.ts";
import type { Io } from "../io.ts";
import { findMainAgent, toAgentLayer } from "../main-agent.ts";
import { toPlaces } from "../open-agents.ts";
import { openRunConfig } from "../open-config.ts";
import type { AskedTemplate } from "../open-templates.ts";
import { createLiveBlock } from "../output/live-block.ts";
import { type OutputFormatName, openProjection } from "../output/output.ts";
import { type PickedModel, pickModel } from "../pick-model.ts";
import { openRunPrompt } from "../run-prompt.ts";
import { findSkills, toRunRequest } from "../run-request.ts";
import { toSessionWish } from "../session-options.ts";
import { showRun } from "../show-run.ts";
import { tellSession } from "../tell-session.ts";
import { createTreeControls } from "../tree-controls.ts";

export const run: RunCommand = async (call, io) => {
  const network = createCommandNetwork(io);
  try {
    return await runWith(network, call, io);
  } finally {
    await network.close();
  }
};

async function runWith(network: Network, { options, words }: CommandCall, io: Io): Promise<number> {
  const { agents, files, warnings } = await loadAgents(await toPlaces(io));
  const agent = findMainAgent(options["agent"], files);
  const template = await openTemplate(options, io);
  const layer = agent ? toAgentLayer(agent) : template?.layer;
  const { config, warn } = await openRunConfig(options, io, layer);
  const format = await readFormat(options, { config, agent, cwd: io.cwd });
  const message = await readUserMessage({ words, files: listOf(options["file"]), template }, io);
  const choice = await pickModel(config, network, io);
  const output = pickOutput(options, config);

  const live = createLiveBlock(io.stderr);
  const asking = createAskOnTerminal(io, live);
  const settings = withAnswers(toRuntimeOptions(config, { ...io, ask: asking?.ask }));
  const session = toSessionWish(options, { isRecorded: settings.storePath !== undefined });
  const { skills, ...found } = await findSkills(config, io);
  const notSent = await findFilesInPrompt(words, io.cwd);
  await warn([...warnings, ...(template?.warnings ?? []), ...found.warnings, ...notSent]);
  const toolSettings = { ...settings.toolSettings, skills };
  const runtime = await createRuntime({
    ...settings,
    toolSettings,
    agents,
    transport: network.open,
  });
  try {
    const head = toHead(agent, choice, config.get("quiet"));
    if (head !== "") await io.stderr.write(head);
    const tools = await withOrigin(config, "tools", () => pickTools(config.get("tools"), runtime));
    await warn(await uncallable(agents, tools));
    const prompt = await openRunPrompt(config, { io, tools, skills });
    await warn(prompt.warnings);
    const request: InnerRunRequest = {
      ...toRunRequest(config, choice),
      input: [message],
      instructions: prompt.instructions,
      told: prompt.told,
      session,
      tools,
      format,
      root: io.cwd,
      rules: toGivenRules(config),
      agent: agent?.name ?? null,
      on_throw: output === "sse" ? "end" : "tell_model",
    };
    if (options["plan"]) {
      const { printPlan } = await import("./plan-output.ts");
      return await printPlan(await runtime.plan(request), { ...io, isJson: output !== "text" });
    }
    const started = await runtime.run(request);
    if (!config.get("quiet")) await tellSession(started, { runtime, session, choice, io });
    const projection = openProjection(output, {
      ...io,
      brief: config.get("brief"),
      verbose: options["verbose"] === true,
      quiet: config.get("quiet"),
      isStructured: format.type !== "text",
      doneMarker: config.get("done_marker"),
      live,
      controls: createTreeControls(runtime.engine),
    });
    const tree = toTree(started, runtime);
    const isRecorded = settings.storePath !== undefined && !config.get("quiet");
    return await showRun(tree, projection, { ...io, quiet: asking?.quiet, live, isRecorded });
  } finally {
    await runtime.close();
  }
}

/** The run whose events are those of its subagents, too. */
function toTree(run: Run, { engine }: Pick<Runtime, "engine">): Run {
  return { ...run, follow: (signal) => followTree(engine, run.id, { signal }) };
}

/** The code for templates is loaded only if one is named: most runs have none. */
async function openTemplate(options: Options, io: Io): Promise<AskedTemplate | undefined> {
  if (options["template"] === undefined && options["var"] === undefined) return undefined;
  const { findTemplate } = await import("../open-templates.ts");
  return await findTemplate(options, io);
}

/**
 * Only this process could answer a question of a run without a record, so such a question is refused at once.
 */
function withAnswers(settings: RuntimeOptions): RuntimeOptions {
  if (settings.ask || settings.storePath !== undefined) return settings;
  return { ...settings, approvalWaitMs: undefined };
}

/** The line with the agent and the model. With `-q` it is shown only if the user chose no model. */
function toHead(
  agent: AgentDefinition | undefined,
  { reason, source }: PickedModel,
  isQuiet: boolean,
): string {
  const model = `model: ${reason}\n`;
  if (isQuiet) return source === "embedded" ? model : "";
  return `${agent ? `agent: ${agent.name}\n` : ""}${model}`;
}

/** The agents that the model's list names but that a run cannot call, with the reasons. */
async function uncallable(
  agents: readonly AgentDefinition[],
  tools: readonly string[],
): Promise<string[]> {
  if (agents.length === 0 || !tools.some(isDelegating)) return [];
  const { findUncallable } = await import("../../delegation/agents/agent-wish.ts");
  return agents.flatMap((agent) => {
    const why = findUncallable(agent, tools);
    return why === undefined ? [] : [`${why}, so it cannot be called in this run.`];
  });
}

function pickOutput(options: Options, config: Config): OutputFormatName {
  const named = options["output"];
  if (options["sse"] && named !== undefined && named !== "sse") {
    throw new Failure("invalid_request", `Give either --sse or -o ${named}, not both.`);
  }
  return options["sse"] ? "sse" : (config.get("output") as OutputFormatName);
}

interface FormatSources {
  readonly config: Config;
  readonly agent: AgentDefinition | undefined;
  readonly cwd: string;
}

/** The format of the flags; else that of the agent's file, else that of the settings. */
async function readFormat(
  options: Options,
  { config, agent, cwd }: FormatSources,
): Promise<OutputFormat> {
  const file = options["schema"];
  if (options["json-object"] && file !== undefined) {
    throw new Failure("invalid_request", "Give either --schema or --json-object, not both.");
  }
  if (options["json-object"]) return { type: "json_object" };
  if (typeof file === "string") {
    return toOutputFormat({ output_schema: await readSchemaFile(file, cwd) });
  }
  if (agent?.outputSchema ?? agent?.outputMode) {
    const { outputMode: output_mode, outputSchema: output_schema } = agent;
    return toOutputFormat({ output_mode, output_schema });
  }
  const mode = config.get("output_mode");
  if (mode === "text") return { type: "text" };
  const path = config.get("output_schema");
  const read = (): Promise<JsonObject | null> =>
    path === undefined ? Promise.resolve(null) : readSchemaFile(path, cwd);
  const output_schema = await withOrigin(config, "output_schema", read);
  return toOutputFormat({ output_mode: mode, output_schema });
}

/** The code that checks schemas is loaded only if one is named: most runs have none. */
async function readSchemaFile(file: string, cwd: string): Promise<JsonObject> {
  const { readSchema } = await import("../read-schema.ts");
  return await readSchema(file, cwd);
}

function listOf(value: Options[string]): readonly string[] {
  return Array.isArray(value) ? value : [];
}
