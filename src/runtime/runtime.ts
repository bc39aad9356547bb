/**
 * The runtime: the one place that names implementations and joins them.
 *
 * A run is checked whole before it is written down: an invalid schema, a missing key or an unknown tool is refused,
 * and nothing was sent or stored.
 */

import { steerRun } from "../agent/inbox.ts";
import { parseTask } from "../agent/task.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import { silentLog } from "../base/log.ts";
import type { AgentDefinition } from "../delegation/agents/definition.ts";
import type { AgentOptions } from "../delegation/agents/own-agents.ts";
import type { Plan } from "../delegation/plan.ts";
import { DELEGATION } from "../delegation/settings.ts";
import { openWatch } from "../delegation/telemetry/open-watch.ts";
import { needsProcess } from "../delegation/tools/names.ts";
import type { Engine } from "../engine/engine.ts";
import { toDbosPlace } from "../engine/engines.ts";
import type { LocalEngineOptions } from "../engine/local-engine-options.ts";
import { openEngine } from "../engine/open-engine.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { GgufLibrary } from "../providers/gguf/library.ts";
import type { OpenedResponses } from "../responses/api/open-responses.ts";
import type { KeptRecord } from "../store/kept.ts";
import { openKept } from "../store/open-kept.ts";
import { toUnknownRun } from "../store/refusal.ts";
import type { Tool } from "../tools/tool.ts";
import { VERSION } from "../version.ts";
import { AGENT_BODY, type AgentBody, type AgentParts, createAgentBody } from "./agent-body.ts";
import type { OpenQuestion } from "./approvals.ts";
import { checkVendors, toCatalog, toVendorModels } from "./config/config-vendors.ts";
import { createNetwork, limitAnswers } from "./network.ts";
import { openConversations } from "./open-conversations.ts";
import type { EmbeddingWish } from "./open-embeddings.ts";
import { openModel, openOwnModel } from "./open-model.ts";
import type { ResponsesSettings, RuntimeInside } from "./open-responses.ts";
import type { ModelParts } from "./open-sign.ts";
import { toPlannedModel } from "./planned-model.ts";
import type { createRecordApi, RecordApi } from "./record/record-api.ts";
import type { RecordedRuns } from "./record/run-controls.ts";
import { type Run, toRun } from "./run-handle.ts";
import { type InnerRunRequest, type RunRequest, refuseUnknown, toTask } from "./run-request.ts";
import { RUNTIME_OPTIONS, type RuntimeOptions } from "./runtime-options.ts";
import { toSafety } from "./safety-settings.ts";
import { type OpenedSessions, openSessions } from "./sessions/open-sessions.ts";
import type { Sessions } from "./sessions/session.ts";
import { defineSubagents } from "./subagent-queue.ts";
import { submitRun } from "./submit-run.ts";
import { createToolbox, type Toolbox } from "./toolbox.ts";
import { openUndo } from "./undo/open-undo.ts";
import type { Undo } from "./undo/undo.ts";

export type { Run } from "./run-handle.ts";
export type { RunRequest } from "./run-request.ts";
export type { RuntimeOptions } from "./runtime-options.ts";

export interface Runtime extends RecordedRuns {
  readonly engine: Engine;
  /** Conversations that continue over several runs, also those of clients of a server on the same record. */
  readonly sessions: Sessions;
  /** The agents that calls of delegation may name, and that clients of a server may be offered. */
  readonly agents: readonly AgentDefinition[];
  /** The names of the tools that runs may have, without those of MCP servers. */
  readonly toolNames: readonly string[];
  /** Includes those of MCP servers, which are started for it. */
  listTools(): Promise<readonly string[]>;
  /** The names of the tools that a run is offered if it names none. */
  usualTools(): Promise<readonly string[]>;
  /** The usual tools without those of MCP servers: nothing is started for them. */
  readonly usualHere: readonly string[];
  /** Tools as models read them; a tool of an MCP server, or one that delegates, only by its name. */
  describeTools(names: readonly string[]): readonly JsonObject[];
  /** Starts a run. Rejects an invalid request before anything is sent or stored. */
  run(request: RunRequest): Promise<Run>;
  /** The plan of a run that is not started. Rejects as `run` does; sends and stores nothing. */
  plan(request: RunRequest): Promise<Plan>;
  /** A run of the record, or one below it, wherever it runs. Rejects if the run does not exist. */
  attach(id: string): Promise<Run>;
  /** The tool calls of all runs that wait for a person's answer. */
  questions(): Promise<readonly OpenQuestion[]>;
  /**
   * The main runs without an ending that no living process works on, newest first. `resume` continues one. A run of
   * another machine is listed once its process is known to be gone, which takes some seconds.
   */
  unfinished(): Promise<readonly RunRecord[]>;
  /** The record of all runs, to read and control them: lists, trees, costs, open questions. */
  openRecord(): Promise<RecordApi>;
  /** Undoes what tools did to files: of a run with all below it, or of a session after a turn. */
  readonly undo: Undo;
  /** The Responses API over this runtime; once. Closed with it. */
  openResponses(settings: ResponsesSettings): Promise<OpenedResponses>;
  /** Stops what still runs here, without an ending, and releases everything. */
  close(): Promise<void>;
}

function openToolbox(
  { tools = [], log = silentLog, toolSettings }: RuntimeOptions,
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): ReturnType<typeof createToolbox> {
  if (!Array.isArray(tools) || !tools.every(isTool)) {
    const message = "`tools` must be a list of tools that `defineTool` made.";
    throw new Failure("invalid_request", message, { param: "tools" });
  }
  return createToolbox({ ...toolSettings, tools, env, clock, log, version: VERSION });
}

/** A program in JavaScript may give anything. */
function isTool(given: Partial<Tool> | null): boolean {
  return typeof given?.spec?.name === "string" && typeof given.run === "function";
}

/** The vendors and models that may be named: ours, and those of the program. */
function toKnown({ vendors = {}, overrides = [] }: RuntimeOptions) {
  const catalog = toCatalog(checkVendors(vendors, "vendors"));
  return { catalog, overrides: [...toVendorModels(vendors), ...overrides] };
}

/** The options that runs of agents use unchanged. */
function toAgentOptions(options: RuntimeOptions) {
  const { childProcess, storePath, openAccount, tellQuestion, treeAlways } = options;
  return { childProcess, storePath, openAccount, tellQuestion, treeAlways };
}

export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return await openRuntime(options, undefined);
}

/**
 * `shared` is a record that the caller has opened and closes after the runtime; without it the runtime opens its own.
 */
export async function openRuntime(
  options: RuntimeOptions,
  shared: KeptRecord | undefined,
): Promise<Runtime> {
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
  const opening = { shared, clock, observe: watch.observe };
  const { kept, engine } = await openRecordEngine(options, opening);
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
    agents,
    conversations,
    ...toAgentOptions(options),
    ...known,
    // Nothing is known in advance of a provider of the program's own.
    ...(!options.provider && { modelOf: (ref, { url }) => toPlannedModel(ref, url, known) }),
  };
  let responses: OpenedResponses | undefined;
  const isOffered = (tool: string): boolean => childProcess !== undefined || !needsProcess(tool);
  const agent = createAgentBody(agentParts);
  engine.define(AGENT_BODY, agent.run);

  const runCalls = createRunCalls({ engine, kept, clock, agent, agentParts, known, sessions });
  const inside = { engine, clock, runtime: runCalls, sessions: sessions.sessions };
  return refuseAfterClose({
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
  });
}

/** The record, and the engine over it. The engine closes a record that was opened here. */
async function openRecordEngine(
  { engine, storePath }: RuntimeOptions,
  {
    shared,
    ...parts
  }: Pick<LocalEngineOptions, "clock" | "observe"> & { shared: KeptRecord | undefined },
): Promise<{ readonly kept: KeptRecord; readonly engine: Engine }> {
  const dbos = toDbosPlace(engine, storePath);
  const kept = shared ?? (await openKept(storePath));
  const isShared = shared !== undefined;
  return { kept, engine: await openEngine(kept, { ...parts, dbos, isShared }) };
}

/** Loads the API of the record when it is needed. */
async function loadRecord(
  kept: Pick<KeptRecord, "index" | "shelf">,
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
  readonly kept: Pick<KeptRecord, "shelf" | "chunks">;
  readonly modelParts: ModelParts;
}

/** The API is loaded by the program that serves it. */
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

/** The code that checks agents is loaded only if there are some: most programs have none. */
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

/** Pages of the record, because a run that waits for its process may be older than many at work. */
async function findUnfinished(engine: Engine): Promise<readonly RunRecord[]> {
  const found: RunRecord[] = [];
  let before: string | undefined;
  for (;;) {
    const query = { limit: 100, status: "running", parent_id: null, before } as const;
    const page = await engine.record.listRuns(query);
    for (const run of page) if (!(await engine.isHeld(run))) found.push(run);
    before = page.at(-1)?.id;
    if (page.length < query.limit) return found;
  }
}

interface RunCallParts {
  readonly engine: Engine;
  readonly kept: Pick<KeptRecord, "index">;
  readonly clock: Clock;
  readonly agent: AgentBody;
  readonly agentParts: AgentParts;
  readonly known: Pick<ModelParts, "overrides" | "catalog">;
  readonly sessions: OpenedSessions;
}

type RunCalls = Pick<
  Runtime,
  "run" | "plan" | "resume" | "replay" | "attach" | "cancel" | "steer" | "questions" | "unfinished"
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
      // A key that is not set here must not end a run that another shell could continue.
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
    unfinished: () => findUnfinished(engine),
  };
}

/** Without this the engine would refuse the run, with words about a process that stops. */
function refuseAfterClose(runtime: Runtime): Runtime {
  let isClosed = false;
  return {
    ...runtime,
    async run(request) {
      if (!isClosed) return await runtime.run(request);
      const message = "The runtime was closed, so it starts no more runs. Make another one.";
      throw new Failure("cancelled", message);
    },
    async close() {
      isClosed = true;
      await runtime.close();
    },
  };
}

/** The GGUF models of all runs, each loaded by the first run that names it. */
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
