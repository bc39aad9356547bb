/**
 * `offshoot run`: runs one prompt through an agent. Everything is checked before anything is sent.
 */

import { Failure } from "../../base/failure.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import { loadAgents } from "../../delegation/agents/load-agents.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import { isDelegating } from "../../delegation/tools/names.ts";
import type { RunEnd } from "../../protocol/run-events.ts";
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
import type { FormatSources } from "../answer-format.ts";
import { createAskOnTerminal } from "../ask-on-terminal.ts";
import type { CommandCall, Options, RunCommand } from "../command.ts";
import { createCommandNetwork } from "../command-network.ts";
import { findFilesInPrompt, readUserMessage } from "../input.ts";
import type { Io } from "../io.ts";
import type { LimitedRun } from "../larger-limit.ts";
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
  const format = await openFormat(options, { config, agent, cwd: io.cwd });
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
    const controls = createTreeControls(runtime.engine);
    const projection = openProjection(output, {
      ...io,
      ...toLook(config, options),
      isStructured: format.type !== "text",
      live,
      controls,
    });
    const tree = toTree(started, runtime);
    const isRecorded = settings.storePath !== undefined && !config.get("quiet");
    const toNext = hintOf({ asked: request, run: started, settings });
    const shown = { ...io, quiet: asking?.quiet, live, isRecorded, toNext };
    return await showRun(tree, projection, shown);
  } finally {
    await runtime.close();
  }
}

/** The code that reads and checks schemas is loaded only if the answer is not plain text. */
async function openFormat(options: Options, sources: FormatSources): Promise<OutputFormat> {
  const { agent, config } = sources;
  const isAsked = options["json-object"] || options["schema"] !== undefined;
  const isOfAgent = (agent?.outputSchema ?? agent?.outputMode) !== undefined;
  if (!isAsked && !isOfAgent && config.get("output_mode") === "text") return { type: "text" };
  const { readFormat } = await import("../answer-format.ts");
  return await readFormat(options, sources);
}

/** The code of the hint is loaded only for a run that did not complete. */
function hintOf(ended: LimitedRun): (end: RunEnd) => Promise<string | undefined> {
  return async (end) => (await import("../larger-limit.ts")).toNextHint(end, ended);
}

/** What the person wants to see of a run. */
function toLook(config: Config, options: Options) {
  return {
    brief: config.get("brief"),
    verbose: options["verbose"] === true,
    quiet: config.get("quiet"),
    doneMarker: config.get("done_marker"),
  };
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

function listOf(value: Options[string]): readonly string[] {
  return Array.isArray(value) ? value : [];
}
