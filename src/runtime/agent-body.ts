/**
 * The body that the engine runs for every run, root or child: its model, its tools and gate, its account, the loop.
 */

import { type Account, createAccount } from "../agent/account.ts";
import { checkPriced } from "../agent/call-estimate.ts";
import { AGENT_CALLS } from "../agent/calls.ts";
import { type Limits, NO_LIMITS } from "../agent/limits.ts";
import { runLoop } from "../agent/loop.ts";
import type { LoopParts } from "../agent/loop-parts.ts";
import { checkNative, nativeToolsOf } from "../agent/native-names.ts";
import { createOutputCheck } from "../agent/structured-output.ts";
import { type AgentTask, parseTask, type SessionPlace } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import type { AgentDefinition } from "../delegation/agents/definition.ts";
import type { WatchingNode } from "../delegation/background-door.ts";
import type { Conversations } from "../delegation/conversations.ts";
import { createDelegatingTools } from "../delegation/delegating-tools.ts";
import type { OpenAccounts, PlaceOf } from "../delegation/executors/in-process.ts";
import { openParentAccount } from "../delegation/parent-account.ts";
import { toCountedChildren } from "../delegation/past-children.ts";
import { openAskedBudget } from "../delegation/placed/asked-budget.ts";
import type { PlannedModel } from "../delegation/plan-cost.ts";
import {
  createOpenQuestions,
  type OpenQuestions,
  type TellQuestion,
} from "../delegation/questions.ts";
import type { ReplayRun } from "../delegation/replay/replay-run.ts";
import type { DelegationSettings } from "../delegation/settings.ts";
import type { SubagentEvent } from "../delegation/subagent-events.ts";
import { createAskParentTool } from "../delegation/tools/ask-parent.ts";
import type { RunBody, RunContext } from "../engine/engine.ts";
import type { ModelOverride } from "../providers/models/models.ts";
import type { Catalog } from "../providers/vendors/catalog.ts";
import type { Always } from "../tools/gate/always.ts";
import type { Tool } from "../tools/tool.ts";
import { createAskers } from "./askers.ts";
import {
  type ChildProcessSettings,
  createProcessChildren,
  type ProcessChildren,
} from "./child-processes.ts";
import { type GateSurroundings, openGate, openHooks, type SafetyParts } from "./open-gate.ts";
import { openKeeper } from "./open-keeper.ts";
import { openNode } from "./open-node.ts";
import type { OpenedModel } from "./open-provider.ts";
import type { ModelWish } from "./open-sign.ts";
import { runWithHooks } from "./run-hooks.ts";
import type { SessionBefore } from "./sessions/session-parts.ts";
import type { Toolbox } from "./toolbox.ts";

/** The name of the body in the record. */
export const AGENT_BODY = "agent";

export interface AgentParts {
  readonly clock: Clock;
  /** Makes a task's model usable; rejects with what is missing. */
  readonly openModel: (wish: ModelWish) => Promise<OpenedModel>;
  readonly toolbox: Toolbox;
  readonly safety: SafetyParts;
  readonly delegation: DelegationSettings;
  /** The accounts of children that run here, whichever body their parents have: all bodies of a runtime share them. */
  readonly accounts?: OpenAccounts | undefined;
  /** The queue for subagents that may run anywhere; without it none may. */
  readonly placeOf?: PlaceOf | undefined;
  readonly observe: (event: SubagentEvent) => void;
  /** How children in processes of their own are started; without it there are none. */
  readonly childProcess?: ChildProcessSettings | undefined;
  /** Runs children in another way than as processes of the package's own command. */
  readonly processChildren?: ProcessChildren | undefined;
  /** Where child processes find the record. */
  readonly storePath?: string | undefined;
  /** The agents that calls may name. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  /** The vendors that tasks may name; ours alone when left out. */
  readonly catalog?: Catalog | undefined;
  /** The facts about models from the user's settings. */
  readonly overrides?: readonly ModelOverride[] | undefined;
  /** The facts of a task's or another model; throws for an unknown one. */
  readonly modelOf?: ((ref: string, task: AgentTask) => PlannedModel) | undefined;
  /** Stores what children say, if the settings ask for that. */
  readonly conversations?: Conversations | undefined;
  /** Reads the items of a session before one of its runs. */
  readonly readSession?:
    | ((place: SessionPlace, context: RunContext) => Promise<SessionBefore>)
    | undefined;
  /** Opens the account of a run that is not a child of another run here; its own limits when left out. */
  readonly openAccount?: ((limits: Limits, run: Pick<RunContext, "id">) => Account) | undefined;
  /** Reports what runs ask their parents, for a parent in another process. */
  readonly tellQuestion?: TellQuestion | undefined;
  /** The allowances of a person for the tree of all runs here, if its root is in another process. */
  readonly treeAlways?: Always | undefined;
  /** Replays recorded runs: replaces models and tools. */
  readonly replay?: ((run: { readonly path: string }) => ReplayRun) | undefined;
  /** Changes a task before it is worked on. */
  readonly prepare?: ((task: AgentTask, path: string) => AgentTask) | undefined;
}

export interface AgentBody {
  readonly run: RunBody;
  /** Rejects what the run would fail at; starts and sends nothing. */
  check(task: AgentTask): Promise<void>;
}

interface Asking {
  readonly context: RunContext;
  readonly task: AgentTask;
  readonly account: Account;
}

export function createAgentBody(parts: AgentParts): AgentBody {
  const { clock, toolbox, safety, delegation: settings, observe, agents = [] } = parts;
  const accounts: OpenAccounts = parts.accounts ?? new Map();
  const askers = createAskers({ ...safety, treeAlways: parts.treeAlways }, clock);
  const questions = createOpenQuestions(parts.tellQuestion);
  const open = parts.openAccount ?? ((limits: Limits) => createAccount(limits));
  const { childProcess, storePath, conversations, catalog, overrides } = parts;
  const { alwaysOf } = askers;
  const shared = { storePath, safety, settings, clock, questions, catalog, overrides, alwaysOf };
  const processChildren =
    parts.processChildren ?? (childProcess && createProcessChildren({ childProcess, ...shared }));
  const checkModel = async (task: AgentTask): Promise<void> =>
    void (await checkModelOf(parts, task));
  /** The account that its children get shares of. Children of a replay that sends nothing were paid for. */
  const openAccountOf = (context: RunContext, task: AgentTask, replay?: ReplayRun): Account => {
    if (replay?.account) return createAccount(NO_LIMITS);
    const { id } = context;
    return accounts.get(id) ?? openPlaced(context, task) ?? open(task.limits, { id });
  };

  return {
    async run(context, input) {
      const read = parseTask(input);
      const task = parts.prepare?.(read, context.path) ?? read;
      const replay = parts.replay?.(context);
      const checkOutput = await createOutputCheck(task.format);
      const model = await parts.openModel(task);
      const tools = await toolbox.pick(task.tools);
      const account = openAccountOf(context, task, replay);
      const session = task.session && (await parts.readSession?.(task.session, context));
      const { placeOf } = parts;
      const place = { context, task, account, tools, body: AGENT_BODY, accounts, placeOf };
      const isRecorded = storePath !== undefined;
      const known = { agents, check: checkModel, modelOf: toModelOf(parts, task) };
      const about = { ...known, conversations, isRecorded, questions };
      const played = { recorded: replay?.newsAfter, replayed: replay?.children };
      const told = { settings, clock, observe, processChildren };
      const node = openNode({ ...place, ...about, ...told, ...played });
      const { background } = node;
      const all = [...tools, ...createDelegatingTools(node, task.tools), ...toAsk(place, shared)];
      const runHooks = replay ? undefined : await openHooks(task, safety);
      const asking = { ...safety, ...askers.of(task, context), runHooks };
      const around = withUndo(asking, context, clock);
      const gate = await openGate(task, all, around);
      try {
        const counted = toCountedChildren(node, context);
        const own = { context, task, clock, checkOutput, ...session, ...counted };
        const loop = { ...own, calls: AGENT_CALLS, backgroundChildren: background };
        const swapped = toPlayed(replay, { account, provider: model.provider, gate, background });
        const nativeTools = nativeToolsOf(task, model.native, specsOf(all));
        const keeper = openKeeper({ ...loop, ...swapped, model, nativeTools });
        const kept = replay && keeper ? replay.wrapKeeper(keeper) : keeper;
        const whole = { ...loop, ...model, ...swapped, nativeTools, keeper: kept };
        return await runWithHooks(runHooks, { context, task }, () => runLoop(whole));
      } finally {
        askers.end(context);
        await gate.close();
      }
    },
    async check(task) {
      const tools = await toolbox.pick(task.tools);
      await (await openGate(task, tools, safety)).close();
      const { native } = await checkModelOf(parts, task);
      // A child has its parent's native tools; the vendor of another model may not run them.
      if (task.depth === 0) checkNative(task, native, specsOf(tools));
    },
  };
}

/** A client of a server has no way to undo what tools did to files, and pays for storage: nothing is kept. */
function withUndo(
  around: GateSurroundings,
  { tenant }: RunContext,
  clock: Clock,
): GateSurroundings {
  return tenant === null ? { ...around, clock } : around;
}

function toAsk(
  { context, task, account }: Asking,
  { questions, settings }: { questions: OpenQuestions; settings: DelegationSettings },
): readonly Tool[] {
  const { askTimeoutMs: timeoutMs } = settings;
  return task.can_ask ? [createAskParentTool({ context, questions, account, timeoutMs })] : [];
}

/** The account of a child whose parent may be in another process; undefined for any other run. */
function openPlaced(context: RunContext, { limits, ceiling }: AgentTask): Account | undefined {
  if (!ceiling || context.parent_id === null) return undefined;
  return openParentAccount(ceiling, openAskedBudget(context, context.parent_id, limits));
}

async function checkModelOf(
  { openModel }: Pick<AgentParts, "openModel">,
  task: AgentTask,
): Promise<OpenedModel> {
  const model = await openModel(task);
  await createOutputCheck(task.format);
  model.checkInput(task.items);
  checkPriced(task.limits, model);
  return model;
}

/** The replacements of the model and the tools in a replay. */
function toPlayed(
  replay: ReplayRun | undefined,
  {
    account,
    provider,
    gate,
    background,
  }: Pick<LoopParts, "account" | "provider" | "gate"> & Pick<WatchingNode, "background">,
): Pick<LoopParts, "account" | "provider" | "gate" | "own" | "inbox"> {
  if (!replay) return { account, provider, gate };
  return {
    account: replay.account ?? account,
    provider: replay.wrapProvider(provider),
    gate: replay.wrapGate(gate, background),
    own: replay.options,
    inbox: replay.readInbox,
  };
}

function specsOf(tools: readonly Tool[]): readonly Tool["spec"][] {
  return tools.map(({ spec }) => spec);
}

/** If nothing is known of a model, it may have any price. */
const UNKNOWN: PlannedModel = {
  contextTokens: undefined,
  maxOutputTokens: undefined,
  costOf: () => undefined,
};

/** Looks up models that a run's children may have. */
export function toModelOf(
  { modelOf }: Pick<AgentParts, "modelOf">,
  task: AgentTask,
): (ref: string) => PlannedModel {
  return (ref) => modelOf?.(ref, task) ?? UNKNOWN;
}
