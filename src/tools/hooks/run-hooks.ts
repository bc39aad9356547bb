/**
 * Runs hooks: each gets the event as JSON on standard input, in the folder of the run, with the environment
 * that commands of tools get. Exit code 0 continues, 2 denies, and so does `{"decision": "deny", "reason":
 * …}` on standard output. Anything else is a fault of the hook: it is reported in one line, and its
 * `on_error` decides.
 */

import { toFailure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { fits, type Touched } from "../gate/rules.ts";
import type { RanCommand } from "../sandbox/run-command.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Hook, HookEvent } from "./hook.ts";

export interface Hooks {
  has(on: HookEvent): boolean;
  /** The first denial; undefined if no hook denied. Rejects only if the signal aborts. */
  run(on: HookEvent, fields: JsonObject, call: HookCall): Promise<HookDenial | undefined>;
  close(): Promise<void>;
}

export interface HookCall {
  readonly signal: AbortSignal;
  /** The targets of a tool call; missing for a run. */
  readonly touched?: Touched | undefined;
  /** Called with one line for each problem with a hook. */
  tell?(problem: string): Promise<unknown>;
}

export interface HookDenial {
  readonly hook: string;
  readonly reason: string;
}

interface HookParts {
  readonly hooks: readonly Hook[];
  readonly root: string;
  /** Called by the first hook that runs. The sandbox is closed here. */
  openSandbox(): Promise<Sandbox>;
}

export function createHooks({ hooks, root, openSandbox }: HookParts): Hooks {
  let opened: Promise<Sandbox> | undefined;
  const start = async (hook: Hook, input: string, signal: AbortSignal): Promise<RanCommand> => {
    opened ??= openSandbox();
    const { runCommand } = await import("../sandbox/run-command.ts");
    const { argv, timeoutMs } = hook;
    const limits = { maxStdoutBytes: MAX_BYTES, maxStderrBytes: MAX_BYTES };
    const options = { stdin: input, timeoutMs, ...limits, signal };
    return await runCommand(await opened, { argv, cwd: root }, options);
  };
  return {
    has: (on) => hooks.some((hook) => hook.on === on),
    async run(on, fields, call) {
      for (const hook of hooks) {
        if (hook.on !== on || !isMeant(hook, call.touched)) continue;
        const input = JSON.stringify({ event: on, hook: hook.name, cwd: root, ...fields });
        const ran = await start(hook, input, call.signal).catch((thrown) => {
          call.signal.throwIfAborted();
          return toFailure(thrown).message;
        });
        const found = readEnd(hook, ran);
        if (found.problem !== undefined) await call.tell?.(`hook ${hook.name}: ${found.problem}`);
        if (found.reason !== undefined) return { hook: hook.name, reason: found.reason };
      }
      return undefined;
    },
    close: async () => (await opened)?.close(),
  };
}

const MAX_BYTES = 64 * 1024;
const REASON_CHARS = 2000;

function isMeant({ match }: Hook, touched: Touched | undefined): boolean {
  return match === undefined || (touched !== undefined && fits(match, touched));
}

interface End {
  /** Why it denies. */
  readonly reason?: string;
  readonly problem?: string;
}

function readEnd(hook: Hook, ran: RanCommand | string): End {
  if (typeof ran === "string") return toFault(hook, `cannot be started (${ran})`);
  if (ran.timedOut) {
    return toFault(hook, `was stopped after ${hook.timeoutMs / 1000} s, with all it had started`);
  }
  const said = tryParseJson(ran.stdout.trim());
  const isDenied = isJsonObject(said) && said["decision"] === "deny";
  if (ran.exitCode === 2 || (ran.exitCode === 0 && isDenied)) {
    const given = isJsonObject(said) ? said["reason"] : undefined;
    const words = typeof given === "string" ? given : ran.stderr.trim() || ran.stdout.trim();
    return { reason: clip(words, REASON_CHARS) || "no reason given" };
  }
  if (ran.exitCode === 0) return {};
  const last = clip(ran.stderr.trim().split("\n").at(-1) ?? "", 200);
  return toFault(hook, `exited with ${ran.exitCode}${last === "" ? "" : `: ${last}`}`);
}

/** After a fault, a hook before a call or a run denies it by default; a hook after it cannot. */
function toFault({ on, onError }: Hook, problem: string): End {
  const denies = onError === "deny" && on.startsWith("before_");
  return denies ? { problem, reason: `the hook ${problem}` } : { problem };
}
