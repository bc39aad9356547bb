/**
 * The runtime: the one place that names implementations and joins them.
 *
 * A run is checked whole before it is written down: a schema that is none, a key that is missing or
 * a tool that does not exist is refused, and nothing was sent or stored.
 */

import { steerRun } from "../agent/inbox.ts";
import { parseTask } from "../agent/task.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { type Log, silentLog } from "../base/log.ts";
import type { AgentDefinition } from "../delegation/agents/definition.ts";
import type { AgentOptions } from "../delegation/agents/own-agents.ts";
import type { Plan } from "../delegation/plan.ts";
import { DELEGATION, type DelegationSettings } from "../delegation/settings.ts";
import type { SubagentEvent } from "../delegation/subagent-events.ts";
import { openWatch } from "../delegation/telemetry/open-watch.ts";
import { needsProcess } from "../delegation/tools/names.ts";
import type { Engine } from "../engine/engine.ts";
import { type EngineName, toDbosPlace } from "../engine/engines.ts";
import { openEngine } from "../engine/open-engine.ts";
import type { GgufLibrary } from "../providers/gguf/library.ts";
import type { Provider } from "../providers/provider.ts";
import type { OpenedResponses } from "../responses/api/open-responses.ts";
import type { Kept } from "../store/kept.ts";
import { openKept } from "../store/open-kept.ts";
import { toUnknownRun } from "../store/refusal.ts";
import type { Tool } from "../tools/tool.ts";
import { VERSION } from "../version.ts";
import { AGENT_BODY, type AgentBody, type AgentParts, createAgentBody } from "./agent-body.ts";
import type { OpenQuestion } from "./approvals.ts";
import type { ChildProcessSettings } from "./child-processes.ts";
import { checkVendors, toCatalog, toVendorModels } from "./config/config-vendors.ts";
import { createNetwork, limitAnswers } from "./network.ts";
import { openConversations } from "./open-conversations.ts";
import type { EmbeddingWish } from "./open-embeddings.ts";
import { type SafetySettings, toSafety } from "./open-gate.ts";
import { openModel, openOwnModel } from "./open-model.ts";
import type { ModelParts } from "./open-provider.ts";
import type { ResponsesSettings, RuntimeInside } from "./open-responses.ts";
import { toPlannedModel } from "./planned-model.ts";
import type { createRecordApi, RecordApi } from "./record/record-api.ts";
import type { Replayed, ReplayRequest } from "./replay.ts";
import { type Run, toRun } from "./run-handle.ts";
import { type InnerRunRequest, type RunRequest, refuseUnknown, toTask } from "./run-request.ts";
import { type OpenedSessions, openSessions } from "./sessions/open-sessions.ts";
import type { Sessions } from "./sessions/session.ts";
import { defineSubagents } from "./subagent-queue.ts";
import { submitRun } from "./submit-run.ts";
import { createToolbox, type Toolbox, type ToolSettings } from "./toolbox.ts";
import { openUndo } from "./undo/open-undo.ts";
import type { Undo } from "./undo/undo.ts";

export type { Run } from "./run-handle.ts";
export type { RunRequest } from "./run-request.ts";

export interface RuntimeOptions
  extends Partial<Omit<ModelParts, "catalog">>,
    Partial<SafetySettings> {
  /** Vendors of one's own beside the built-in ones, as the setting `vendors` has them. */
  readonly vendors?: JsonObject | undefined;
  /** Where runs are kept: a SQLite file, or memory when left out. */
  readonly storePath?: string | undefined;
  /** What runs them: our own engine when left out; `dbos` needs a Postgres database. */
  readonly engine?: EngineName | undefined;
  /** Answers every run of this runtime, whatever model it names; its price is unknown. */
  readonly provider?: Provider | undefined;
  /** Beside the built-in ones; one of the same name takes their place. */
  readonly tools?: readonly Tool[] | undefined;
  /** How the built-in tools work, and which there are beside them. */
  readonly toolSettings?: ToolSettings | undefined;
  readonly clock?: Clock | undefined;
  /** Most bytes of one answer of a model's server; 32 MiB when left out. */
  readonly maxAnswerBytes?: number | undefined;
  /** What holds for all delegation. */
  readonly delegation?: Partial<DelegationSettings> | undefined;
  /** Where children's conversations are written, if the settings of delegation say that they are. */
  readonly conversationsDir?: string | undefined;
  /** Those that calls of delegation may name. */
  readonly agents?: readonly AgentOptions[] | undefined;
  /** Where what happens to subagents is logged. */
  readonly subagentLog?: Log | undefined;
  /** How children in processes of their own are started; without it there are none. */
  readonly childProcess?: ChildProcessSettings | undefined;
  /**
   * How many subagents that are left to whichever process has room run here at once. Without it none does, and
   * none is left to others: their folders and settings must be the same.
   */
  readonly maxPlacedHere?: number | undefined;
  /** What a run spends from that is no child of another here; an account of its own limits when left out. */
  readonly openAccount?: AgentParts["openAccount"];
  /** Told of what runs ask their parents, for a parent in another process. */
  readonly tellQuestion?: AgentParts["tellQuestion"];
  /** What a person allows for the whole tree that all runs here belong to, below a run of another process. */
  readonly treeAlways?: AgentParts["treeAlways"];
  /** Told of what happens to subagents. */
  readonly observe?: ((event: SubagentEvent) => void) | undefined;
}

/** Every option, so that one that is mistyped is refused and not left out in silence. */
const OPTIONS: Readonly<Record<keyof RuntimeOptions, true>> = {
  ...{
    env: true,
    storePath: true,
    engine: true,
    provider: true,
    vendors: true,
    overrides: true,
    options: true,
  },
  ...{ timeouts: true, retry: true, quirks: true, maxAnswerBytes: true, transport: true },
  ...{ limiters: true, healths: true, random: true, gguf: true, clock: true, log: true },
  ...{ tools: true, toolSettings: true, ask: true, approvalWaitMs: true, rules: true },
  ...{
    toolTimeoutMs: true,
    parallelCalls: true,
    outputChars: true,
    commandEnv: true,
    gitHooks: true,
    sandboxNetwork: true,
  },
  ...{
    undo: true,
    buffers: true,
    hooks: true,
    hardLinks: true,
    protectedPaths: true,
    agents: true,
    delegation: true,
    observe: true,
  },
  ...{ subagentLog: true, conversationsDir: true, childProcess: true, openAccount: true },
  ...{ tellQuestion: true, treeAlways: true, maxPlacedHere: true },
};

export const RUNTIME_OPTIONS: readonly string[] = Object.keys(OPTIONS);

export interface Runtime {
  readonly engine: Engine;
  /** Conversations that go on over several runs, those of clients of a server on the same record too. */
  readonly sessions: Sessions;
  /** Those that calls of delegation may name, and that clients of a server may be offered. */
  readonly agents: readonly AgentDefinition[];
  /** The names of the tools that runs may have, but for those of MCP servers. */
  readonly toolNames: readonly string[];
  /** Those of MCP servers too, which are started for it. */
  listTools(): Promise<readonly string[]>;
  /** The names of the tools that a run is offered where it is not said which. */
  usualTools(): Promise<readonly string[]>;
  /** Of those, all but the ones of MCP servers: nothing is started for them. */
  readonly usualHere: readonly string[];
  /** Tools as a model is told of them; one of an MCP server, or that delegates, by its name alone. */
  describeTools(names: readonly string[]): readonly JsonObject[];
  /** Starts a run. Rejects before anything is sent or stored when the request cannot be honoured. */
  run(request: RunRequest): Promise<Run>;
  /** What the run would be. Rejects as `run` does; sends and stores nothing. */
  plan(request: RunRequest): Promise<Plan>;
  /** Goes on with a stored run whose process died. */
  resume(id: string): Promise<Run>;
  /** A run of the record, or one below it, wherever it runs. Rejects where there is none. */
  attach(id: string): Promise<Run>;
  /**
   * Ends a run and everything below it as `cancelled`, wherever it runs. A child's parent goes on, and is
   * told. A run that has ended stays as it is. Rejects where there is none, and where nobody works on it and
   * this program cannot take it over.
   */
  cancel(id: string): Promise<void>;
  /** Leaves a message that a run, or one below it, reads before its next turn, wherever it runs. Rejects where there is none, or it has ended. */
  steer(id: string, text: string): Promise<void>;
  /** The tool calls of all runs that wait for a person's answer. */
  questions(): Promise<readonly OpenQuestion[]>;
  /** Runs a recorded tree again: without a change nothing is sent, with one only what depends on it. */
  replay(request: Omit<ReplayRequest, "record">): Promise<Replayed>;
  /** What is written of all runs, to look at and to work on: lists, trees, costs, open questions. */
  openRecord(): Promise<RecordApi>;
  /** Takes back what tools did to files: of a run with all below it, or of a session after a turn. */
  readonly undo: Undo;
  /** The Responses API over this runtime; once. Closed with it. */
  openResponses(settings: ResponsesSettings): Promise<OpenedResponses>;
  /** Ends what still runs here, without an ending, and gives everything back. */
  close(): Promise<void>;
}

function openToolbox(
  { tools = [], log = silentLog, toolSettings }: RuntimeOptions,
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): ReturnType<typeof createToolbox> {
  return createToolbox({ ...toolSettings, tools, env, clock, log, version: VERSION });
}

/** The vendors and models that may be named: ours, and those that the program brings. */
function toKnown({ vendors = {}, overrides = [] }: RuntimeOptions) {
  const catalog = toCatalog(checkVendors(vendors, "vendors"));
  return { catalog, overrides: [...toVendorModels(vendors), ...overrides] };
}

export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  refuseUnknown("A runtime has no option", options, RUNTIME_OPTIONS);
  const { env = process.env, clock = systemClock, childProcess, storePath } = options;
  const toolbox = await openToolbox(options, env, clock);
  const network = createNetwork(env);
  const gguf = createGguf(options.log);
  const transport = limitAnswers(options.transport ?? network.open, options.maxAnswerBytes);
  const delegation = { ...DELEGATION, ...options.delegation };
  const told = { log: options.subagentLog, observe: options.observe };
  const watch = await openWatch(env, { settings: delegation, version: VERSION, ...told });
  const known = toKnown(options);
  const modelParts: ModelParts = { ...options, ...known, env, transport, gguf: gguf.open };
  const agents = await openAgents(options.agents ?? [], toolbox.names);
  const dbos = toDbosPlace(options.engine, storePath);
  const kept = await openKept(storePath);
  const engine = await openEngine(kept, { clock, observe: watch.observe, dbos });
  const conversations = await openConversations({ ...options, env, delegation, engine, clock });
  const isInMemory = storePath === undefined;
  const sessions = openSessions({ shelf: kept.shelf, clock, engine, isInMemory });
  const agentParts: AgentParts = {
    clock,
    toolbox,
    openModel: async (task) =>
      options.provider ? openOwnModel(options.provider, task) : await openModel(task, modelParts),
    safety: { ...options, ...toSafety(options), env },
    delegation,
    accounts: new Map(),
    placeOf: defineSubagents(engine, delegation, options.maxPlacedHere),
    observe: watch.tell,
    readSession: sessions.read,
    ...{ agents, childProcess, storePath, conversations, openAccount: options.openAccount },
    ...{ tellQuestion: options.tellQuestion, treeAlways: options.treeAlways },
    ...known,
    // Of a provider of the program's own nothing is known in advance.
    ...(!options.provider && { modelOf: (ref, { url }) => toPlannedModel(ref, url, known) }),
  };
  let responses: OpenedResponses | undefined;
  const isOffered = (tool: string): boolean => childProcess !== undefined || !needsProcess(tool);
  const agent = createAgentBody(agentParts);
  engine.define(AGENT_BODY, agent.run);

  const runCalls = createRunCalls({ engine, kept, clock, agent, agentParts, known, sessions });
  const inside = { engine, clock, runtime: runCalls, sessions: sessions.sessions };
  return {
    engine,
    sessions: sessions.sessions,
    agents,
    toolNames: toolbox.names,
    listTools: () => toolbox.list(),
    usualHere: toolbox.usualHere.filter(isOffered),
    usualTools: async () => (await toolbox.usual()).filter(isOffered),
    describeTools: toolbox.describe,
    undo: openUndo({ engine, sessions: sessions.sessions, clock, env }),
    ...runCalls,
    openRecord: () => loadRecord(kept, toolbox, inside),
    async openResponses(settings) {
      const given = { engine, bookWith: kept.bookWith, clock, agent: agentParts };
      responses = await loadResponses(given, { kept, modelParts }, settings);
      return responses;
    },
    async close() {
      const parts = [responses, conversations, { close: () => engine.stop() }, watch, toolbox];
      for (const part of [...parts, network, gguf]) await part?.close();
    },
  };
}

/** Likewise. */
async function loadRecord(
  kept: Pick<Kept, "index" | "shelf">,
  toolbox: Pick<Toolbox, "describe">,
  parts: Omit<Parameters<typeof createRecordApi>[0], "index" | "readBefore" | "toolsOf">,
): Promise<RecordApi> {
  const [{ createRecordApi: create }, { createReadBefore }] = await Promise.all([
    import("./record/record-api.ts"),
    import("./run-steps/before-run.ts"),
  ]);
  const readBefore = createReadBefore(kept.shelf, parts.engine);
  const toolsOf = toolbox.describe;
  return create({ ...parts, readBefore, toolsOf, index: await kept.index() });
}

interface ResponseStores {
  readonly kept: Pick<Kept, "shelf" | "chunks">;
  readonly modelParts: ModelParts;
}

/** The API is loaded by whoever serves it. */
async function loadResponses(
  inside: Pick<RuntimeInside, "engine" | "bookWith" | "clock" | "agent">,
  { kept, modelParts }: ResponseStores,
  settings: ResponsesSettings,
): Promise<OpenedResponses> {
  const { openResponses } = await import("./open-responses.ts");
  const { openEmbeddings } = await import("./open-embeddings.ts");
  const beside = { shelf: await kept.shelf(), chunks: await kept.chunks() };
  const embed = (wish: EmbeddingWish) => openEmbeddings(wish, modelParts);
  return openResponses({ ...inside, ...beside, openEmbeddings: embed }, settings);
}

/** What checks them is loaded where there are some: most programs have none. */
async function openAgents(
  agents: readonly AgentOptions[],
  tools: readonly string[],
): Promise<readonly AgentDefinition[]> {
  if (agents.length === 0) return [];
  const [{ toAgents }, { checkAgentTools }] = await Promise.all([
    import("../delegation/agents/own-agents.ts"),
    import("../delegation/agents/agent-problems.ts"),
  ]);
  const all = toAgents(agents);
  checkAgentTools(all, tools);
  return all;
}

interface RunCallParts {
  readonly engine: Engine;
  readonly kept: Pick<Kept, "index">;
  readonly clock: Clock;
  readonly agent: AgentBody;
  readonly agentParts: AgentParts;
  readonly known: Pick<ModelParts, "overrides" | "catalog">;
  readonly sessions: OpenedSessions;
}

type RunCalls = Pick<
  Runtime,
  "run" | "plan" | "resume" | "replay" | "attach" | "cancel" | "steer" | "questions"
>;

function createRunCalls(parts: RunCallParts): RunCalls {
  const { engine, kept, clock, agent, agentParts, known, sessions } = parts;
  return {
    async run(request: InnerRunRequest) {
      const task = toTask(request);
      await agent.check(task);
      const { id, joined } = await submitRun(engine, { task, request, clock, sessions });
      return toRun(engine, id, joined);
    },
    async plan(request) {
      const task = toTask(request);
      await agent.check(task);
      const { planRun } = await import("./plan-run.ts");
      return await planRun(task, agentParts, { timeoutMs: request.timeoutMs, ...known });
    },
    async resume(id) {
      const isRunning = (await engine.status(id))?.status === "running";
      // A key that is not set here must not end a run that another shell could go on with.
      const input = isRunning ? await engine.input(id) : undefined;
      if (input !== undefined) await agent.check(parseTask(input));
      await engine.resume(id);
      return toRun(engine, id);
    },
    async replay(request) {
      const { replayTree } = await import("./replay.ts");
      return await replayTree(
        { record: engine.record, ...request },
        { ...agentParts, conversations: undefined },
      );
    },
    async attach(id) {
      if (!(await engine.status(id))) throw toUnknownRun(id);
      return toRun(engine, id);
    },
    async cancel(id) {
      try {
        await engine.cancel(id, { tree: true });
      } catch (thrown) {
        if ((await engine.status(id))?.status !== "ended") throw thrown;
      }
    },
    steer: (id, text) => steerRun(engine, id, text),
    async questions() {
      const { findAllQuestions } = await import("./approvals.ts");
      return await findAllQuestions(await kept.index());
    },
  };
}

/** The GGUF models of all runs, each loaded by the first that names it. */
function createGguf(log: ModelParts["log"]): {
  readonly open: () => Promise<GgufLibrary>;
  close(): Promise<void>;
} {
  let opened: Promise<GgufLibrary> | undefined;
  return {
    open: () => {
      opened ??= import("../providers/gguf/library.ts").then(({ createGgufLibrary }) =>
        createGgufLibrary(log ? { log } : {}),
      );
      return opened;
    },
    close: async () => (await opened)?.close(),
  };
}
