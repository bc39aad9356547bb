/**
 * The parts of a chat: the runtime with the settings of this folder, and the conversation. Loaded while the person
 * already types.
 */

import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import { loadAgents } from "../../delegation/agents/load-agents.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import type { RecordReader } from "../../engine/engine.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toModelOverrides } from "../../runtime/config/config-models.ts";
import { toVendorModels } from "../../runtime/config/config-vendors.ts";
import { withOrigin } from "../../runtime/config/setting-origin.ts";
import { toStoreAddress } from "../../runtime/config/store-address.ts";
import { catalogOf } from "../../runtime/model-address.ts";
import { pickTools } from "../../runtime/pick-tools.ts";
import { toPlannedModel } from "../../runtime/planned-model.ts";
import { createRuntime, type Run } from "../../runtime/runtime.ts";
import { toGivenRules, toRuntimeOptions } from "../../runtime/settings.ts";
import type { UndoOptions, UndoReport } from "../../runtime/undo/undo.ts";
import type { Ask } from "../../tools/gate/ask.ts";
import type { Options } from "../command.ts";
import { createCommandNetwork } from "../command-network.ts";
import type { Io } from "../io.ts";
import { findMainAgent, toAgentLayer } from "../main-agent.ts";
import { toPlaces } from "../open-agents.ts";
import { openConfig } from "../open-config.ts";
import { type PickedModel, pickModel } from "../pick-model.ts";
import { openRunPrompt } from "../run-prompt.ts";
import { findSkills, toRunRequest, toThinking } from "../run-request.ts";
import type { ChatConversation } from "./conversation.ts";
import { readMessage } from "./message.ts";
import { SessionConversation } from "./session-conversation.ts";

export interface ChatRun {
  readonly run: Run;
  /** Follows the log of the run and of all runs below it. */
  readonly follow: Run["follow"];
  readonly notes: readonly string[];
}

export interface ChatEngine {
  readonly model: PickedModel;
  /** The window of the model, if it is known. */
  readonly contextTokens: number | undefined;
  /** The most dollars of one run. */
  readonly maxUsd: number | undefined;
  readonly isThinking: boolean;
  readonly tools: readonly string[];
  readonly agents: readonly AgentDefinition[];
  readonly warnings: readonly string[];
  readonly conversation: ChatConversation;
  readonly record: RecordReader;
  /** Undefined if the session is not stored: then no prompt is written to a file either. */
  readonly historyFile: string | undefined;
  start(words: string, before: string): Promise<ChatRun>;
  /** Restores the files that tools changed after a turn of the session. */
  undo(turn: number, options: UndoOptions): Promise<UndoReport>;
  setModel(name: string): Promise<void>;
  setThinking(isThinking: boolean): void;
  /** Sets the tools; the usual ones if none are named. */
  setTools(named: readonly string[] | undefined): Promise<void>;
  close(): Promise<void>;
}

interface ChatParts {
  readonly io: Io;
  readonly options: Options;
  readonly ask: Ask;
}

export async function openChatEngine({ io, options, ask }: ChatParts): Promise<ChatEngine> {
  const network = createCommandNetwork(io);
  const { agents, files, warnings } = await loadAgents(await toPlaces(io));
  const agent = findMainAgent(options["agent"], files);
  const layer = agent && toAgentLayer(agent);
  let config = await openConfig(options, io, layer);
  const settings = toRuntimeOptions(config, { ...io, ask });
  const { skills, ...found } = await findSkills(config, io);
  const toolSettings = { ...settings.toolSettings, skills };
  const runtime = await createRuntime({
    ...settings,
    toolSettings,
    agents,
    transport: network.open,
  });
  let model = await pickModel(config, network, io);
  let tools = await withOrigin(config, "tools", () => pickTools(config.get("tools"), runtime));
  let isThinking = toThinking(config).think === true;
  const prompt = await openRunPrompt(config, { io, tools, skills });
  const conversation = new SessionConversation(runtime, io.cwd);
  return {
    get model() {
      return model;
    },
    get contextTokens() {
      return windowOf(model, config);
    },
    maxUsd: config.get("max_cost"),
    get isThinking() {
      return isThinking;
    },
    get tools() {
      return tools;
    },
    agents,
    conversation,
    warnings: [...warnings, ...found.warnings, ...prompt.warnings],
    record: runtime.engine.record,
    historyFile: toHistoryFile(config, io),
    async start(words, before) {
      const { message, notes } = await readMessage(words, before, io);
      const own = { tools, think: isThinking, root: io.cwd, rules: toGivenRules(config) };
      const { instructions, told } = prompt;
      const asked = { ...toRunRequest(config, model), ...own, instructions, told };
      const run = await conversation.start(message, { ...asked, agent: agent?.name ?? null });
      return {
        run,
        notes: run.forked ? [...notes, COPIED] : notes,
        follow: (signal) => followTree(runtime.engine, run.id, { signal }),
      };
    },
    async undo(turn, how) {
      const { id } = conversation;
      if (id === undefined) return NOTHING_UNDONE;
      return await runtime.undo({ session: id, turn }, how);
    },
    async setModel(name) {
      const next = await openConfig({ ...options, model: name }, io, layer);
      model = await pickModel(next, network, io);
      config = next;
    },
    setThinking(next) {
      isThinking = next;
    },
    async setTools(named) {
      tools = await pickTools(named, runtime);
    },
    async close() {
      await runtime.close();
      await network.close();
    },
  };
}

/**
 * Two chats may open one session, but what both say at the same time would not be one conversation.
 */
const COPIED = "Another run of this session is at work, so this continues in a copy of it.";

function toHistoryFile(config: Config, { env }: Io): string | undefined {
  const isKept = toStoreAddress(config, env) !== undefined;
  return isKept ? `${config.paths.dataDir}/chat-history.jsonl` : undefined;
}

const NOTHING_UNDONE: UndoReport = {
  root: "",
  runs: [],
  changed: 0,
  files: [],
  obstacles: [],
  unseen: [],
  undo: null,
};

function windowOf({ ref, baseUrl }: PickedModel, config: Config): number | undefined {
  const own = toVendorModels(config.get("vendors"));
  const overrides = [...own, ...toModelOverrides(config.get("models"))];
  const known = { overrides, catalog: catalogOf(config) };
  return toPlannedModel(ref, baseUrl ?? null, known).contextTokens;
}
