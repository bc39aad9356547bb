/**
 * The log for operators: `key=value` lines on stderr, level and areas chosen with `OFFSHOOT_LOG`
 * (`info`, `debug`, `http=debug,engine=info`). Off by default; every line passes `redact`.
 */

import type { Clock } from "./clock.ts";
import type { Redact } from "./redact.ts";

const LEVELS = ["off", "error", "warn", "info", "debug"] as const;
export type Level = (typeof LEVELS)[number];

export interface Log {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
}

type Write = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

interface LogOptions {
  /** The value of `OFFSHOOT_LOG`. */
  readonly setting: string | undefined;
  readonly clock: Clock;
  readonly redact: Redact;
  readonly write: (line: string) => void;
}

export function createLog(area: string, { setting, clock, redact, write }: LogOptions): Log {
  const limit = LEVELS.indexOf(levelFor(area, setting ?? ""));
  const at = (level: Exclude<Level, "off">): Write => {
    if (LEVELS.indexOf(level) > limit) return () => {};
    return (message, fields = {}) => {
      const time = new Date(clock.now()).toISOString();
      const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${toField(value)}`);
      write(redact(`${time} ${level} ${area}${pairs.join("")} ${message}\n`));
    };
  };
  return { error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug") };
}

export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };

function levelFor(area: string, setting: string): Level {
  let level: Level = "off";
  for (const part of setting.split(",")) {
    const [left = "", right] = part.trim().split("=");
    if (right === undefined && isLevel(left)) level = left;
    if (right !== undefined && left === area && isLevel(right)) return right;
  }
  return level;
}

function isLevel(text: string): text is Level {
  return (LEVELS as readonly string[]).includes(text);
}

/** Quotes a text that could be read as more than one field; writes a list as JSON. */
function toField(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
}
