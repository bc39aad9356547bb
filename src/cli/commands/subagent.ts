/**
 * `offshoot subagent`: a runner that any program may start. It reads one JSON document from standard input and writes
 * only SSE to standard output. Its exit code is 0 only if the run completed.
 *
 * A document with a grant was written by an Offshoot parent: the grant is checked before anything else is believed. A
 * document without a grant is a start by a person.
 */

import { setFlagsFromString } from "node:v8";
import { NO_LIMITS } from "../../agent/limits.ts";
import { isNativeName } from "../../agent/native-names.ts";
import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { createRedact, findSecrets } from "../../base/redact.ts";
import { encodeSse } from "../../base/sse.ts";
import { loadAgents } from "../../delegation/agents/load-agents.ts";
import { checkTools } from "../../delegation/child-task.ts";
import { CHILD_MARK } from "../../delegation/executors/child-mark.ts";
import { openParentAccount } from "../../delegation/parent-account.ts";
import { encodeQuestion, QUESTION } from "../../delegation/questions.ts";
import { openGrantKey } from "../../delegation/runner/grant-key.ts";
import { openLineBudget } from "../../delegation/runner/line-budget.ts";
import { openParentAlways } from "../../delegation/runner/parent-always.ts";
import { openParentAsk } from "../../delegation/runner/parent-ask.ts";
import type { ParentLine } from "../../delegation/runner/parent-line.ts";
import { openParentPlaces } from "../../delegation/runner/parent-places.ts";
import { type Payload, parsePayload } from "../../delegation/runner/payload.ts";
import { type PayloadInput, readPayload } from "../../delegation/runner/payload-input.ts";
import { watchParent } from "../../delegation/runner/watch-parent.ts";
import { verifyGrant } from "../../delegation/signed-grant.ts";
import { isDelegating } from "../../delegation/tools/names.ts";
import { ENDINGS, type RunEnd } from "../../protocol/run-events.ts";
import { EMBEDDED } from "../../providers/models/model-ref.ts";
import { checkProvider } from "../../providers/models/provider-names.ts";
import { isWire, WIRES } from "../../providers/wires.ts";
import type { Config } from "../../runtime/config/config.ts";
import { withPassword } from "../../runtime/config/store-address.ts";
import type { InnerRunRequest } from "../../runtime/run-request.ts";
import {
  createRuntime,
  type Run,
  type Runtime,
  type RuntimeOptions,
} from "../../runtime/runtime.ts";
import { toLimits, toRuntimeOptions } from "../../runtime/settings.ts";
import type { RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { toPlaces } from "../open-agents.ts";
import { openConfig } from "../open-config.ts";
import { withSkills } from "../open-skills.ts";
import { createFrameWriter } from "../output/sse-output.ts";
import { exitCodeOf } from "../show-run.ts";
import { cleanForTerminal, toWarningLine } from "../terminal.ts";

/**
 * The HTTP parser is WebAssembly, which V8 begins to optimize after a few answers: a third of the processor time of a
 * run with few answers. So a runner does without. A later V8 that does not know the flag says so on standard error
 * and continues.
 */
const NO_OPTIMIZED_WASM = "--wasm-tiering-budget=1000000000";

export const run: RunCommand = async (_, io) => {
  setFlagsFromString(NO_OPTIMIZED_WASM);
  if (io.stdin.isTerminal) {
    const example = `echo '{"model": "embedded", "prompt": "Hello"}' | offshoot subagent`;
    throw new Failure("invalid_request", `The payload comes on standard input: ${example}`);
  }
  const input = await readPayload(process.stdin);
  try {
    return await runPayload(input, io);
  } finally {
    input.close();
  }
};

async function runPayload(input: PayloadInput, io: Io): Promise<number> {
  const { document, parentGone } = input;
  const payload = parsePayload(document);
  if (payload.provider !== null) checkProvider(payload.provider);
  const config = await openConfig({}, io);
  if (payload.grant || document["signature"] !== undefined) await checkGrant(document, config);
  const agents = await openAgents(payload, io);
  const line = toParentLine(payload, input, io);
  const toParent = {
    openAccount: toOpenAccount(payload, line),
    ask: toAsk(payload, line),
    treeAlways: payload.asks && line ? openParentAlways(line) : undefined,
    tellQuestion: toTellQuestion(payload, io),
  };
  const options = toOptions(payload, config, io);
  const childProcess = withPlaces(options.childProcess, line);
  const folder = { ...io, cwd: payload.root ?? io.cwd };
  const toolSettings = await withSkills(options.toolSettings, payload.tool_subset, folder);
  const given = { ...options, toolSettings, agents };
  const runtime = await createRuntime({ ...given, ...toParent, childProcess });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= runtime.close();
    return closing;
  };
  const leaving = parentGone ? watchForParent(parentGone, close, io) : undefined;
  try {
    const tool_subset = payload.tool_subset.filter((name) => !isNativeName(name));
    checkTools(tool_subset, await namesFor({ tool_subset }, runtime));
    const started = await runtime.run(toRequest(payload, config, io));
    return await stream(started, { payload, io, leaving });
  } catch (thrown) {
    if (leaving?.hasBegun) return ENDINGS.cancelled.exit;
    throw thrown;
  } finally {
    leaving?.stop();
    await close();
  }
}

/** The key belongs to this user: a program that cannot read it cannot sign anything. */
async function checkGrant(document: JsonObject, { paths }: Config): Promise<void> {
  if (document["grant"] === undefined || document["grant"] === null) {
    throw new Failure("invalid_request", "There is a signature, but no `grant` that it is for.");
  }
  const key = await openGrantKey(paths.grantKeyFile);
  verifyGrant(document, { key, nowMs: systemClock.now() });
}

/** Only read if the run may delegate. */
async function openAgents({ tool_subset }: Payload, io: Io): Promise<RuntimeOptions["agents"]> {
  if (!tool_subset.some(isDelegating)) return [];
  const { agents, warnings } = await loadAgents(await toPlaces(io));
  for (const warning of warnings) await io.stderr.write(toWarningLine(warning));
  return agents;
}

/** The signed values replace this process's own settings, which may be wider. */
function toOptions(payload: Payload, config: Config, io: Io): RuntimeOptions {
  const own = toRuntimeOptions(config, io);
  const signed: RuntimeOptions = payload.grant ? { ...payload.safety } : {};
  const { commandEnv = [], delegation } = { ...own, ...signed };
  return {
    ...own,
    ...signed,
    // Answers come through the parent or the record. Without either, a question is not waited for.
    approvalWaitMs: payload.grant ? signed.approvalWaitMs : toWait(payload, own),
    storePath: withPassword(payload.store_path, io.env),
    // Without a record its run is in memory.
    engine: payload.store_path === undefined ? "own" : own.engine,
    // Marks commands, so that those still running are found after this process is killed.
    commandEnv: [...commandEnv, CHILD_MARK],
    delegation: payload.grant ? { ...delegation, ...payload.delegation } : delegation,
  };
}

function toWait({ store_path }: Payload, own: RuntimeOptions): number | undefined {
  return store_path === undefined ? undefined : own.approvalWaitMs;
}

/** Undefined if the program that started us is not an Offshoot parent that listens. */
function toParentLine(
  { grant }: Payload,
  { onLine, parentGone }: PayloadInput,
  { stdout }: Io,
): ParentLine | undefined {
  if (!grant || !parentGone) return undefined;
  return {
    onLine,
    async send(frame) {
      await stdout.write(encodeSse(String(frame["type"]), frame));
    },
  };
}

/** An Offshoot parent can be asked for more than the limits, up to its ceiling. */
function toOpenAccount(
  { ceiling, limits }: Payload,
  line: ParentLine | undefined,
): RuntimeOptions["openAccount"] {
  if (!ceiling || !line) return undefined;
  const most = { ...NO_LIMITS, ...ceiling };
  // The reservation of the parent now, which is not the amount that a resumed run once began with.
  return (given) => openParentAccount(most, openLineBudget({ ...given, ...limits }, line));
}

function toAsk({ asks }: Payload, line: ParentLine | undefined): RuntimeOptions["ask"] {
  return asks && line ? openParentAsk(line) : undefined;
}

/** Children of a run with an Offshoot parent share the places of the whole tree. */
function withPlaces(
  childProcess: RuntimeOptions["childProcess"],
  line: ParentLine | undefined,
): RuntimeOptions["childProcess"] {
  return childProcess && line ? { ...childProcess, places: openParentPlaces(line) } : childProcess;
}

/** Only questions of this run: runs below it ask through it. */
function toTellQuestion({ run }: Payload, { stdout }: Io): RuntimeOptions["tellQuestion"] {
  if (!run?.can_ask) return undefined;
  const send = async (frame: JsonObject): Promise<void> => {
    await stdout.write(encodeSse(QUESTION, frame));
  };
  return (question) => {
    // A parent that has stopped reading has ended this run.
    if (question.child === run.id) send(encodeQuestion(question)).catch(() => {});
  };
}

/** MCP servers are started only for a name that nothing else has. */
async function namesFor(
  { tool_subset }: Pick<Payload, "tool_subset">,
  { toolNames, listTools }: Runtime,
): Promise<readonly string[]> {
  const isHere = tool_subset.every((name) => toolNames.includes(name));
  return isHere ? toolNames : await listTools();
}

function toRequest(payload: Payload, config: Config, io: Io): InnerRunRequest {
  const { grant, limits } = payload;
  const provider = payload.provider === EMBEDDED ? null : payload.provider;
  return {
    model: toModel(payload),
    model_reason: "named by the payload",
    ...(payload.fell_back && { fell_back: true }),
    provider,
    url: payload.url,
    api_key_name: payload.api_key_name,
    input: payload.items ?? payload.prompt,
    instructions: payload.system_prompt,
    told: payload.told,
    tools: payload.tool_subset,
    think: payload.think,
    effort: payload.effort,
    options: payload.options,
    temperature: payload.temperature,
    max_output_tokens: payload.max_tokens,
    max_turns: payload.max_turns ?? config.get("max_turns"),
    format: payload.format,
    root: payload.root ?? io.cwd,
    approve: payload.approve ?? config.get("approve"),
    sandbox: payload.sandbox ?? config.get("sandbox"),
    ...(grant ? { grant } : {}),
    limits: { ...toLimits(config), ...limits },
    label: payload.label,
    depth: payload.depth,
    summary_prompt: payload.summary_prompt,
    report_along: payload.report_along,
    on_throw: payload.on_throw,
    compact: payload.compact ?? config.get("compact"),
    timeoutMs: payload.timeout_ms,
    place: payload.run,
  };
}

/**
 * The model with its vendor. A name without a vendor belongs to the given server, if that has a wire that any server
 * may use; else to the vendor of the given provider.
 */
function toModel({ model, provider, url }: Payload): string {
  if (provider === EMBEDDED) return EMBEDDED;
  if (model.includes("/") || model.startsWith("gguf:")) return model;
  if (url !== null && (provider === null || provider.startsWith("openai-"))) {
    return `custom/${model}`;
  }
  return provider !== null && isWire(provider) ? `${WIRES[provider].vendor}/${model}` : model;
}

interface Leaving {
  readonly hasBegun: boolean;
  /** Ends this process as if the parent were gone. */
  begin(): void;
  stop(): void;
}

/** Time to close. A runner that needs longer is ended as it is. */
const LEAVE_MS = 3000;

/**
 * When the parent is gone, the run is given up without an ending, so that the process that resumes the parent resumes
 * it too.
 */
function watchForParent(
  parentGone: AbortSignal,
  close: () => Promise<void>,
  { leave }: Io,
): Leaving {
  let hasBegun = false;
  const done = new AbortController();
  const begin = (): void => {
    if (hasBegun) return;
    hasBegun = true;
    systemClock.sleep(LEAVE_MS, done.signal).then(
      () => leave(ENDINGS.cancelled.exit),
      () => {},
    );
    close().catch(() => {});
  };
  const parentId = (): number => process.ppid;
  const unwatch = watchParent({ parentGone, clock: systemClock, parentId, onGone: begin });
  return {
    get hasBegun() {
      return hasBegun;
    },
    begin,
    stop() {
      unwatch();
      done.abort();
    },
  };
}

interface Streaming {
  readonly payload: Payload;
  readonly io: Io;
  readonly leaving: Leaving | undefined;
}

async function stream(run: Run, { payload, io, leaving }: Streaming): Promise<number> {
  const { brief, report, format } = payload;
  // A run that cannot be cancelled has ended, which is noticed next.
  const cancel = (): void => void run.cancel().catch(() => {});
  const stops = [io.onInterrupt(cancel), io.onReaderGone(leaving ? leaving.begin : cancel)];
  const toFrames = createFrameWriter({ brief, isStructured: format.type !== "text" });
  try {
    for await (const batch of run.follow()) {
      const frames = batch.map(({ event }) => {
        if (event.type !== "run_resume") return toFrames(event);
        return report ? encodeSse("subagent_resume", { type: "subagent_resume" }) : "";
      });
      const text = frames.join("");
      if (text !== "") await io.stdout.write(text);
    }
    const end = await run.result();
    if (report) await io.stdout.write(encodeSse("subagent_report", end));
    if (end.ending !== "completed") await io.stderr.write(`offshoot: ${toLine(end, io)}\n`);
    return exitCodeOf(end);
  } finally {
    for (const stop of stops) stop();
  }
}

function toLine({ message }: RunEnd, { env }: Io): string {
  return createRedact(findSecrets(env))(cleanForTerminal(message).replace(/\s+/g, " "));
}
