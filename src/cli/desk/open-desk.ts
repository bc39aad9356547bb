/**
 * Agents of a folder for programs that speak another protocol than the terminal's: one runtime with the settings of
 * the folder, each agent as a preset of a run, and one budget for all of them together.
 */

import { type Account, type ChildAccount, createAccount } from "../../agent/account.ts";
import { type Limits, NO_LIMITS } from "../../agent/limits.ts";
import { toOutputFormat } from "../../agent/output-mode.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import { loadAgents } from "../../delegation/agents/load-agents.ts";
import type { Item } from "../../protocol/items.ts";
import type { Config } from "../../runtime/config/config.ts";
import { catalogOf } from "../../runtime/model-address.ts";
import { pickTools } from "../../runtime/pick-tools.ts";
import { toPlannedModel } from "../../runtime/planned-model.ts";
import type { InnerRunRequest } from "../../runtime/run-request.ts";
import { createRuntime, type Run, type Runtime } from "../../runtime/runtime.ts";
import type { SessionWish } from "../../runtime/sessions/session.ts";
import { toGivenRules, toRuntimeOptions } from "../../runtime/settings.ts";
import type { ToolSettings } from "../../runtime/toolbox.ts";
import type { Ask } from "../../tools/gate/ask.ts";
import type { McpServer } from "../../tools/mcp/server.ts";
import type { FileBuffers } from "../../tools/workspace/buffered-workspace.ts";
import type { Options } from "../command.ts";
import { createCommandNetwork } from "../command-network.ts";
import { findSkills, toRunRequest } from "../commands/run.ts";
import type { Io } from "../io.ts";
import { findMainAgent, toAgentLayer } from "../main-agent.ts";
import { toPlaces } from "../open-agents.ts";
import { openConfig } from "../open-config.ts";
import { pickModel } from "../pick-model.ts";
import { openRunPrompt } from "../run-prompt.ts";

export interface DeskParts {
  readonly io: Io;
  readonly options: Options;
  readonly ask: Ask;
  /** Most dollars of all runs together; none of their own settings is widened by it. */
  readonly maxUsd: number | undefined;
  /** Files as an editor has them. */
  readonly buffers?: FileBuffers | undefined;
  /** MCP servers beside those of the settings, which the person has agreed to. */
  readonly servers?: readonly McpServer[] | undefined;
}

export interface OpenedDesk {
  readonly runtime: Runtime;
  readonly config: Config;
  /** Those that may be used here. */
  readonly agents: readonly AgentDefinition[];
  /** What is wrong with agents and prompts, one line each. */
  readonly warnings: readonly string[];
  /** What a run of the main agent would have with this model; with that of the settings when left out. Rejects where it cannot be. */
  describe(model?: string): Promise<DeskModel>;
  /** Rejects what a run of the main agent would be refused for: a key that is missing, a tool that is not there. */
  check(model?: string): Promise<void>;
  /** Starts a run of the main agent, or of the agent of that name. Rejects before anything is sent or stored. */
  start(wish: DeskWish): Promise<Run>;
  close(): Promise<void>;
}

export interface DeskModel {
  readonly model: string;
  /** How many tokens it reads; undefined where that is not known. */
  readonly windowTokens: number | undefined;
  readonly tools: readonly string[];
}

export interface DeskWish {
  readonly agent: string | undefined;
  readonly input: string | readonly Item[];
  readonly session: SessionWish;
  /** In place of the model of the settings. */
  readonly model?: string | undefined;
  /** What the caller sets in place of the settings: whether it thinks, how it approves. */
  readonly own?: Partial<InnerRunRequest> | undefined;
}

/** Everything of a run but its words: made once for each agent, when it is first called. */
type Preset = Omit<InnerRunRequest, "input" | "session">;

export async function openDesk(parts: DeskParts): Promise<OpenedDesk> {
  const { io, options, ask } = parts;
  const network = createCommandNetwork(io);
  const { agents, files, warnings } = await loadAgents(await toPlaces(io));
  const config = await openConfig(options, io);
  const settings = toRuntimeOptions(config, { ...io, ask });
  const { skills, ...found } = await findSkills(config, io);
  const purse = createSharedBudget(parts.maxUsd);
  const runtime = await createRuntime({
    ...settings,
    toolSettings: { ...withServers(settings.toolSettings, parts.servers), skills },
    ...{ agents, transport: network.open, openAccount: purse.open, buffers: parts.buffers },
  });
  const presets = new Map<string, Promise<Preset>>();
  const toPreset = async (name: string | undefined, ref: string | undefined): Promise<Preset> => {
    const agent = findMainAgent(name, files);
    const flags = ref === undefined ? options : { ...options, model: ref };
    const own = await openConfig(flags, io, agent && toAgentLayer(agent));
    const model = await pickModel(own, network, io);
    const tools = await pickTools(own.get("tools"), runtime);
    const prompt = await openRunPrompt(own, { io, tools, skills });
    return {
      ...toRunRequest(own, model),
      ...{ tools, root: io.cwd, rules: toGivenRules(own), agent: agent?.name ?? null },
      ...{ instructions: prompt.instructions, told: prompt.told },
      ...formatOf(agent),
    };
  };
  const presetOf = (name: string | undefined, ref: string | undefined): Promise<Preset> => {
    const key = JSON.stringify([name, ref]);
    const kept = presets.get(key) ?? toPreset(name, ref);
    presets.set(key, kept);
    // What failed may be mended before the next call: a key set, a file trusted.
    kept.catch(() => presets.delete(key));
    return kept;
  };
  return {
    ...{ runtime, config, agents },
    warnings: [...warnings, ...found.warnings],
    async describe(ref) {
      const { model, url = null, tools = [] } = await presetOf(undefined, ref);
      const known = { catalog: catalogOf(config), overrides: settings.overrides ?? [] };
      return { model, tools, windowTokens: toPlannedModel(model, url, known).contextTokens };
    },
    async check(ref) {
      await runtime.plan({ ...(await presetOf(undefined, ref)), input: "?" });
    },
    async start({ agent, input, session, model, own }) {
      const preset = await presetOf(agent, model);
      const { instructions: _, told: __, ...goingOn } = preset;
      // A session that goes on has its instructions already.
      const isFirst = session === "new" || (typeof session === "object" && "begin" in session);
      const asked = isFirst ? preset : goingOn;
      const request: InnerRunRequest = { ...asked, ...own, input, session };
      const run = await runtime.run(request);
      void run.result().finally(() => purse.close(run.id));
      return run;
    },
    async close() {
      await runtime.close();
      await network.close();
    },
  };
}

function withServers(
  settings: ToolSettings | undefined,
  servers: readonly McpServer[] = [],
): ToolSettings {
  const { mcp, ...rest } = settings ?? {};
  return mcp ? { ...rest, mcp: { ...mcp, servers: [...mcp.servers, ...servers] } } : rest;
}

function formatOf(agent: AgentDefinition | undefined): Pick<Preset, "format"> {
  const { outputMode: output_mode, outputSchema: output_schema } = agent ?? {};
  if ((output_mode ?? output_schema) === undefined) return {};
  return { format: toOutputFormat({ output_mode, output_schema }) };
}

interface SharedBudget {
  readonly open: (limits: Limits, run: { readonly id: string }) => Account;
  /** Gives back what a run that has ended did not spend. */
  close(id: string): void;
}

/** Runs of one budget are its children: none of them can spend what another has set aside. */
function createSharedBudget(usd: number | undefined): SharedBudget {
  if (usd === undefined) return { open: (limits) => createAccount(limits), close() {} };
  const all = createAccount({ ...NO_LIMITS, usd });
  const open = new Map<string, ChildAccount>();
  return {
    open(ceiling, { id }) {
      const account = all.family.adopt(id, { callKey: id, ceiling });
      open.set(id, account);
      return account;
    },
    close(id) {
      open.get(id)?.close();
      open.delete(id);
    },
  };
}
