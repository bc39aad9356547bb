/** The settings in the form that the runtime takes. */

import { isAbsolute, join } from "node:path";
import { type Limits, NO_LIMITS } from "../agent/limits.ts";
import type { GivenRule } from "../agent/task.ts";
import { systemClock } from "../base/clock.ts";
import type { Environment } from "../base/environment.ts";
import { Failure } from "../base/failure.ts";
import { createLog } from "../base/log.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import { MODEL_RETRY } from "../base/retry.ts";
import type { DelegationSettings } from "../delegation/settings.ts";
import { ASK_PARENT, DELEGATING_TOOLS, SUBAGENTS } from "../delegation/tools/names.ts";
import { BACKED_KINDS } from "../protocol/hosted-kinds/backed-kinds.ts";
import type { Timeouts } from "../providers/http/http-answer.ts";
import type { Quirks } from "../providers/wire.ts";
import { CATALOGUE } from "../tools/catalogue/catalogue.ts";
import type { Ask } from "../tools/gate/ask.ts";
import { checkRuleNames } from "../tools/gate/rule-names.ts";
import { parseRule, RULE_VERDICTS, type Rule, type RuleVerdict } from "../tools/gate/rules.ts";
import type { Config } from "./config/config.ts";
import { toModelOverrides } from "./config/config-models.ts";
import { toStoreAddress } from "./config/store-address.ts";
import type { RuntimeOptions } from "./runtime.ts";
import { toToolSettings } from "./tool-settings.ts";

interface Surroundings {
  readonly env: Environment;
  readonly cwd: string;
  /** Where the log for operators goes, when `OFFSHOOT_LOG` asks for one. */
  readonly stderr: { write(text: string): unknown };
  /** Asks a person; undefined if no person can be asked. */
  readonly ask?: Ask | undefined;
}

/** The paths that tools never touch. A database has no path. */
function toProtected({ paths, get }: Config, storePath: string | undefined): string[] {
  const files = [get("store_path") ?? paths.runsFile, storePath ?? ""];
  return [paths.configFile, paths.dataDir, ...files.filter((file) => isAbsolute(file))];
}

export function toRuntimeOptions(config: Config, around: Surroundings): RuntimeOptions {
  const { env, stderr, ask } = around;
  const storePath = toStoreAddress(config, env);
  const logOptions = {
    setting: env["OFFSHOOT_LOG"],
    clock: systemClock,
    redact: createRedact(findSecrets(env)),
    write: (line: string) => stderr.write(line),
  };
  return {
    env,
    log: createLog("provider", logOptions),
    subagentLog: createLog("subagent", logOptions),
    storePath,
    engine: config.get("engine"),
    overrides: toModelOverrides(config.get("models")),
    vendors: config.get("vendors"),
    timeouts: toTimeouts(config),
    maxAnswerBytes: config.get("max_answer_bytes"),
    retry: { ...MODEL_RETRY, attempts: config.get("max_retries") + 1 },
    quirks: toQuirks(config),
    options: config.get("options"),
    ask,
    approvalWaitMs: toMs(config.get("approval_wait")),
    rules: toRules(config),
    toolTimeoutMs: config.get("tool_timeout") * 1000,
    parallelCalls: config.get("max_parallel_calls"),
    outputChars: config.get("tool_output_limit"),
    commandEnv: config.get("command_env"),
    gitHooks: config.get("git_hooks"),
    sandboxNetwork: config.get("sandbox_network"),
    hardLinks: config.get("hard_links"),
    undo: config.get("undo"),
    hooks: config.get("hooks") ?? {},
    protectedPaths: toProtected(config, storePath),
    toolSettings: toToolSettings(config, around),
    delegation: toDelegation(config),
    conversationsDir: join(config.paths.dataDir, "conversations"),
    childProcess: { grantKeyFile: config.paths.grantKeyFile },
  };
}

/** The time limits that the user set; the vendor's defaults are used for the others. */
function toTimeouts(config: Config): Partial<Timeouts> {
  const named = (name: TimeoutName): number | undefined =>
    config.sourceOf(name) === "default" ? undefined : config.get(name);
  const all = {
    connectMs: named("connect_timeout_ms"),
    firstByteMs: named("first_byte_timeout_ms"),
    idleMs: named("idle_timeout_ms"),
  };
  return Object.fromEntries(Object.entries(all).filter(([, ms]) => ms !== undefined));
}

type TimeoutName = "connect_timeout_ms" | "first_byte_timeout_ms" | "idle_timeout_ms";

function toDelegation(config: Config): DelegationSettings {
  return {
    maxDepth: config.get("agent.subagent.max_depth"),
    defaultMaxTurns: config.get("agent.subagent.default_max_turns"),
    outputMaxSize: config.get("agent.subagent.output_max_size"),
    telemetryEnabled: config.get("agent.subagent.telemetry_enabled"),
    persistenceEnabled: config.get("agent.subagent.persistence_enabled"),
    summary: config.get("agent.subagent.summary"),
    maxParallel: config.get("agent.subagent.max_parallel"),
    maxProcesses: config.get("agent.subagent.max_processes"),
    executor: config.get("agent.subagent.executor"),
    childTimeoutMs: config.get("agent.subagent.timeout") * 1000,
    askTimeoutMs: config.get("agent.subagent.ask_timeout") * 1000,
    maxTotalTokens: config.get("agent.subagent.max_total_tokens"),
    maxTotalTimeMs: toMs(config.get("agent.subagent.max_total_time")),
    planThresholdUsd: config.get("plan_threshold_usd"),
  };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** The limits of a run and everything below it, from the settings. */
export function toLimits(config: Config): Limits {
  return {
    ...NO_LIMITS,
    tokens: config.get("max_total_tokens") ?? null,
    usd: config.get("max_cost") ?? null,
    tool_calls: config.get("max_tool_calls") ?? null,
    children: config.get("agent.subagent.max_executions") ?? null,
  };
}

/** The server's tool kinds, by the names they have in the gate. */
const HOSTED_NAMES = [...BACKED_KINDS, "tool_search"].sort();

/** Each rule with its layer, so that a refusal can say where to look. */
function toRules(config: Config): Rule[] {
  const rules = readRules(config);
  checkRuleNames(rules, knownTools(config));
  return rules;
}

/** The names of all tools and hosted kinds, without those of MCP servers. */
export function knownTools(config: Pick<Config, "get">): string[] {
  const own = Object.keys(config.get("own_tools") ?? {});
  const built = CATALOGUE.map(({ tool }) => tool.spec.name);
  return [
    ...new Set([...built, ...DELEGATING_TOOLS, SUBAGENTS, ASK_PARENT, ...own, ...HOSTED_NAMES]),
  ];
}

/** Rejects rules that every later command would refuse. `name` is the setting they are for. */
export function checkRules(config: Config, name: RuleVerdict, texts: readonly string[]): void {
  const rules = texts.map((text) => parseRule(name, text, `\`${name}\``));
  checkRuleNames(rules, knownTools(config));
}

function readRules(config: Config): Rule[] {
  return RULE_VERDICTS.flatMap((verdict) =>
    config
      .layersOf(verdict)
      .flatMap(({ value, source }) =>
        (value as readonly string[]).map((text) => parseRule(verdict, text, source)),
      ),
  );
}

/** The rules from flags, for the record: a run that is resumed later still obeys them. */
export function toGivenRules(config: Config): GivenRule[] {
  return readRules(config)
    .filter(({ source }) => source.startsWith("--"))
    .map(({ verdict, text, source }) => ({ verdict, text, source }));
}

/** Reads those rules back. A rule that this version does not know is refused, as a flag would be. */
export function parseGivenRules(given: readonly GivenRule[] = []): Rule[] {
  return given.map(({ verdict, text, source }) => {
    const known = RULE_VERDICTS.find((one) => one === verdict);
    if (known) return parseRule(known, text, source);
    throw new Failure("invalid_request", `The run has a rule of an unknown kind: \`${verdict}\`.`);
  });
}

/** The quirks that the user set; the vendor's own are used for the others. */
function toQuirks(config: Config): Quirks {
  const isNamed = config.sourceOf("continuation") !== "default";
  const keepAlive = config.get("ollama_keep_alive");
  const numCtx = config.get("ollama_num_ctx");
  return {
    ...(isNamed ? { continuation: config.get("continuation") } : {}),
    ...(keepAlive === undefined ? {} : { keepAlive }),
    ...(numCtx === undefined ? {} : { numCtx }),
  };
}
