/** The options of a runtime. All of them are named once more, so that a mistyped one is refused. */

import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { AgentOptions } from "../delegation/agents/own-agents.ts";
import type { DelegationSettings } from "../delegation/settings.ts";
import type { SubagentEvent } from "../delegation/subagent-events.ts";
import type { EngineName } from "../engine/engines.ts";
import type { Provider } from "../providers/provider.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentParts } from "./agent-body.ts";
import type { ChildProcessSettings } from "./child-processes.ts";
import type { ModelParts } from "./open-sign.ts";
import type { SafetySettings } from "./safety-settings.ts";
import type { ToolSettings } from "./toolbox.ts";

export interface RuntimeOptions
  extends Partial<Omit<ModelParts, "catalog">>,
    Partial<SafetySettings> {
  /** Vendors of the user's own, besides the built-in ones, as in the setting `vendors`. */
  readonly vendors?: JsonObject | undefined;
  /** Where runs are kept: a SQLite file, or memory when left out. */
  readonly storePath?: string | undefined;
  /** The engine: our own when left out; `dbos` needs a Postgres database. */
  readonly engine?: EngineName | undefined;
  /** Answers every run of this runtime, whatever model it names; its price is unknown. */
  readonly provider?: Provider | undefined;
  /** Added to the built-in tools; a tool with the same name replaces the built-in one. */
  readonly tools?: readonly Tool[] | undefined;
  /** Settings of the built-in tools, and tools of the user besides them. */
  readonly toolSettings?: ToolSettings | undefined;
  readonly clock?: Clock | undefined;
  /** The most bytes of one answer of a model's server; 32 MiB when left out. */
  readonly maxAnswerBytes?: number | undefined;
  /** Settings for all delegation. */
  readonly delegation?: Partial<DelegationSettings> | undefined;
  /** Where children's conversations are written, if the settings of delegation ask for it. */
  readonly conversationsDir?: string | undefined;
  /** The agents that calls of delegation may name. */
  readonly agents?: readonly AgentOptions[] | undefined;
  /** Where events of subagents are logged. */
  readonly subagentLog?: Log | undefined;
  /** How children in processes of their own are started; without it there are none. */
  readonly childProcess?: ChildProcessSettings | undefined;
  /**
   * How many subagents that may run in any process run here at once. Without it none does, and none is left to others:
   * their folders and settings must be the same.
   */
  readonly maxPlacedHere?: number | undefined;
  /** The account of a run that is not a child of another run here; one with its own limits when left out. */
  readonly openAccount?: AgentParts["openAccount"];
  /** Called with what runs ask their parents, for a parent in another process. */
  readonly tellQuestion?: AgentParts["tellQuestion"];
  /** The allowances of a person for the tree of all runs here, if its root is in another process. */
  readonly treeAlways?: AgentParts["treeAlways"];
  /** Called with each event of subagents. */
  readonly observe?: ((event: SubagentEvent) => void) | undefined;
}

/** All options, so that a mistyped one is refused and not silently ignored. */
const OPTIONS: Readonly<Record<keyof RuntimeOptions, true>> = {
  env: true,
  storePath: true,
  engine: true,
  provider: true,
  vendors: true,
  overrides: true,
  options: true,
  timeouts: true,
  retry: true,
  quirks: true,
  maxAnswerBytes: true,
  transport: true,
  limiters: true,
  healths: true,
  random: true,
  gguf: true,
  clock: true,
  log: true,
  tools: true,
  toolSettings: true,
  ask: true,
  approvalWaitMs: true,
  rules: true,
  toolTimeoutMs: true,
  parallelCalls: true,
  outputChars: true,
  commandEnv: true,
  gitHooks: true,
  sandboxNetwork: true,
  undo: true,
  buffers: true,
  hooks: true,
  hardLinks: true,
  protectedPaths: true,
  agents: true,
  delegation: true,
  observe: true,
  subagentLog: true,
  conversationsDir: true,
  childProcess: true,
  openAccount: true,
  tellQuestion: true,
  treeAlways: true,
  maxPlacedHere: true,
};

export const RUNTIME_OPTIONS: readonly string[] = Object.keys(OPTIONS);
