/**
 * Runs agents of a folder for programs that use another protocol than the terminal: one runtime with the settings of
 * the folder, each agent as a preset of a run, and one budget for all of them together.
 */

import { type Account, type ChildAccount, createAccount } from "../../agent/account.ts";
import { type Limits, NO_LIMITS } from "../../agent/limits.ts";
import { toOutputFormat } from "../../agent/output-mode.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import { loadAgents } from "../../delegation/agents/load-agents.ts";
import type { Engine, QueuedPlace } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { Config } from "../../runtime/config/config.ts";
import { withOrigin } from "../../runtime/config/setting-origin.ts";
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
import type { Io } from "../io.ts";
import { findMainAgent, toAgentLayer } from "../main-agent.ts";
import { toPlaces } from "../open-agents.ts";
import { openConfig } from "../open-config.ts";
import { pickModel } from "../pick-model.ts";
import { openRunPrompt } from "../run-prompt.ts";
import { findSkills, toRunRequest } from "../run-request.ts";

export interface DeskParts {
  readonly io: Io;
  readonly options: Options;
  readonly ask: Ask;
  /** The most dollars of all runs together; it does not raise a limit of their own settings. */
  readonly maxUsd: number | undefined;
  /** How many of its runs work at once; the others wait in a queue of the engine. No limit when left out. */
  readonly maxRuns?: number | undefined;
  /** Files as an editor has them. */
  readonly buffers?: FileBuffers | undefined;
  /** MCP servers besides those of the settings; the person has approved them. */
  readonly servers?: readonly McpServer[] | undefined;
}

export interface OpenedDesk {
  readonly runtime: Runtime;
  readonly config: Config;
  /** Agents that may be used here. */
  readonly agents: readonly AgentDefinition[];
  /** Problems of agents and prompts, one line each. */
  readonly warnings: readonly string[];
  /**
   * Describes a run of the main agent with this model, or with that of the settings when left out. Rejects if it is
   * not possible.
   */
  describe(model?: string): Promise<DeskModel>;
  /**
   * Rejects with the reason why a run of the main agent would be refused: a missing key, a missing tool.
   */
  check(model?: string): Promise<void>;
  /**
   * Starts a run of the main agent, or of the named agent. Rejects before anything is sent or stored.
   */
  start(wish: DeskWish): Promise<Run>;
  close(): Promise<void>;
}

export interface DeskModel {
  readonly model: string;
  /** The size of its window in tokens; undefined if it is not known. */
  readonly windowTokens: number | undefined;
  readonly tools: readonly string[];
}

export interface DeskWish {
  readonly agent: string | undefined;
  readonly input: string | readonly Item[];
  readonly session: SessionWish;
  /** Replaces the model of the settings. */
  readonly model?: string | undefined;
  /** The caller's choices in place of the settings: thinking, approval. */
  readonly own?: Partial<InnerRunRequest> | undefined;
}

/** All of a run except its words: made once for each agent, when it is first called. */
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
    agents,
    transport: network.open,
    openAccount: purse.open,
    buffers: parts.buffers,
  });
  const queue = parts.maxRuns === undefined ? undefined : defineRuns(runtime.engine, parts.maxRuns);
  const presetOf = keepPresets(async (name, ref) => {
    const agent = findMainAgent(name, files);
    const flags = ref === undefined ? options : { ...options, model: ref };
    const own = await openConfig(flags, io, agent && toAgentLayer(agent));
    const model = await pickModel(own, network, io);
    const tools = await withOrigin(own, "tools", () => pickTools(own.get("tools"), runtime));
    const prompt = await openRunPrompt(own, { io, tools, skills });
    return {
      ...toRunRequest(own, model),
      tools,
      root: io.cwd,
      rules: toGivenRules(own),
      agent: agent?.name ?? null,
      instructions: prompt.instructions,
      told: prompt.told,
      ...formatOf(agent),
    };
  });
  return {
    runtime,
    config,
    agents,
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
      const asked = isFirst(session) ? preset : withoutInstructions(preset);
      const request: InnerRunRequest = { ...asked, ...own, input, session, queue };
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

/** Makes each preset once. `name` is an agent's, `ref` a model's. */
function keepPresets(
  make: (name: string | undefined, ref: string | undefined) => Promise<Preset>,
): typeof make {
  const presets = new Map<string, Promise<Preset>>();
  return (name, ref) => {
    const key = JSON.stringify([name, ref]);
    const kept = presets.get(key) ?? make(name, ref);
    presets.set(key, kept);
    // The cause of a failure may be fixed before the next call: a key set, a file trusted.
    kept.catch(() => presets.delete(key));
    return kept;
  };
}

function isFirst(session: InnerRunRequest["session"]): boolean {
  return session === "new" || (typeof session === "object" && "begin" in session);
}

/** For a session that continues: it has its instructions already. */
function withoutInstructions({ instructions: _, told: __, ...rest }: Preset): Preset {
  return rest;
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

/** Beyond this, calls are refused: a client in a loop must not fill the record with runs. */
const MAX_WAITING = 1000;

/**
 * A queue that only this process knows: another one has other settings, and must not take these runs. A run that
 * waits when the process dies is continued by `offshoot runs resume`, like any interrupted run.
 */
function defineRuns(engine: Engine, atOnce: number): QueuedPlace {
  const name = makeId("desk");
  engine.defineQueue(name, { atOnce });
  const message = `${MAX_WAITING} runs of this connection already wait for their turn, which is the limit. Call again when some of them have ended.`;
  const toFull = (): Failure => new Failure("rate_limited", message);
  return { name, lane: "", maxWaiting: MAX_WAITING, placement: "queue", toFull };
}

interface SharedBudget {
  readonly open: (limits: Limits, run: { readonly id: string }) => Account;
  /** Returns the budget that an ended run did not spend. */
  close(id: string): void;
}

/** Runs with a common budget are its children: none of them can spend what another has reserved. */
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
