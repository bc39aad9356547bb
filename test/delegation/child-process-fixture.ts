/** Child processes for tests: the executor with a line of shell instead of the runner. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type ChildAccount, createAccount } from "../../src/agent/account.ts";
import { type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import type { AgentTask } from "../../src/agent/task.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../src/base/json.ts";
import { encodeSse } from "../../src/base/sse.ts";
import type { ChildOrder, ChildReport } from "../../src/delegation/child.ts";
import {
  type ChildProcessParts,
  createChildProcessExecutor,
} from "../../src/delegation/executors/child-process.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import { toUsage } from "../../src/protocol/usage.ts";
import { PATIENCE_MS, patientClock } from "../patience.ts";
import { openChildAccount } from "./child-account.ts";

export const KEY = Buffer.alloc(32, 3);

/** Waits a twentieth of the requested time, for tests of waits that run out. */
export const fastClock: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
};

export interface ShellBench {
  readonly folder: string;
  /** The child's part of its parent's budget. */
  readonly account: ChildAccount;
  run(signal?: AbortSignal): Promise<ChildReport>;
  /** What the script wrote into a file of the folder. */
  read(name: string): string;
  payload(): JsonObject;
}

interface Setup extends Partial<ChildProcessParts> {
  readonly task?: Partial<AgentTask>;
  readonly budget?: Partial<Limits>;
  /** The part of it that the child has when it starts; all when left out. */
  readonly share?: Partial<Limits>;
  readonly timeoutMs?: number;
}

/** The script's first line reads the payload into `payload.json`. */
export function createShellBench(t: TestContext, script: string, setup: Setup = {}): ShellBench {
  const { task = {}, budget = {}, share, timeoutMs = PATIENCE_MS, ...parts } = setup;
  const folder = mkdtempSync(join(tmpdir(), "offshoot-child-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const limits = { ...NO_LIMITS, ...budget };
  const account = openShare(limits, share);
  const executor = createChildProcessExecutor({
    command: ["/bin/sh", "-c", `IFS= read -r line; printf '%s' "$line" > payload.json\n${script}`],
    env: { PATH: process.env["PATH"] },
    variablesFor: () => [],
    grantKey: async () => KEY,
    parent: { id: "run_1", path: "/root" },
    storePath: undefined,
    safety: {},
    settings: DELEGATION,
    clock: patientClock,
    ...parts,
  });
  const order: ChildOrder = {
    key: "child-1.0",
    callKey: "run_1/tool:1.0",
    account,
    timeoutMs,
    task: { ...TASK, root: folder, limits, ...task },
  };
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  return {
    folder,
    account,
    run: (signal = new AbortController().signal) => executor.run(order, signal),
    read,
    payload() {
      const payload = tryParseJson(read("payload.json"));
      return isJsonObject(payload) ? payload : {};
    },
  };
}

function openShare(limits: Limits, share: Partial<Limits> | undefined): ChildAccount {
  if (!share) return openChildAccount(limits);
  const { family } = createAccount(limits);
  // As many are announced as leave it its share.
  const parts = Math.floor((limits.tokens ?? 0) / (share.tokens ?? 1)) - 1;
  family.announce("call", parts);
  const child = { callKey: "call", ceiling: {}, enough: {}, least: {}, isFixed: true };
  const account = family.tryAdmit(child);
  if (!account) throw new Error("The child was not let in.");
  return account;
}

export const TASK: AgentTask = {
  model: "custom/test",
  model_reason: "a test",
  provider: "openai-chat",
  url: "http://127.0.0.1:1/v1",
  api_key_name: "TEST_KEY",
  instructions: "Be brief.",
  items: [{ type: "message", role: "user", content: "Count." }],
  tools: ["read"],
  tool_choice: "auto",
  max_turns: 10,
  temperature: 0.8,
  max_output_tokens: 8192,
  think: false,
  format: { type: "text" },
  root: "/",
  on_throw: "tell_model",
  approve: "deny",
  sandbox: "process",
  grant: [{ tools: ["read"] }],
  limits: NO_LIMITS,
  label: "child",
  depth: 1,
  summary_prompt: null,
  response: null,
  options: null,
};

/** Shell that prints a frame. */
export function say(type: string, delta = ""): string {
  return print(encodeSse(type, { id: "", delta, type }));
}

export function print(text: string): string {
  return `printf '%s' '${text.replaceAll("'", `'\\''`)}'`;
}

/** Shell that prints the last frame of a runner that is asked for one. */
export function report(end: JsonObject = {}): string {
  const usage = toUsage({ input: 10, output: 5 });
  const frame: JsonObject = {
    type: "run_end",
    ending: "completed",
    message: "",
    output_text: "The summary.",
    error: null,
    turns: 2,
    tool_calls: 1,
    usage: { ...usage },
    cost_usd: 0.25,
    spent: { turns: 2, tokens: 15, usd: 0.25, tool_calls: 1, children: 0 },
    at_ms: 1,
    ...end,
  };
  return print(encodeSse("subagent_report", frame));
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie that was not waited for yet does not run any more.
  return !/^State:\s+Z/m.test(statusOf(pid));
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}
