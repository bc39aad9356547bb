/**
 * What some tests need of the machine. Where it is missing they are skipped, and their names say why; no
 * test fails for a program that is not installed.
 */

import { probeSandbox } from "../src/tools/sandbox/probe-sandbox.ts";
import { findProgram } from "../src/tools/sandbox/programs.ts";
import type { SandboxLevel } from "../src/tools/sandbox/sandbox.ts";

/** Why the machine lacks it, as `bubblewrap is not installed`; undefined where it is there. */
export type Lack = string | undefined;

const { problem } = await probeSandbox(process.env);

/** A sandbox that holds: bubblewrap is there, and the kernel lets it make namespaces. */
export const SANDBOX_LACK: Lack =
  problem && (/is not available: (.*?)\. /s.exec(problem)?.[1] ?? problem);

/** `/proc` tells what runs, and who started it. */
export const LINUX_LACK: Lack = process.platform === "linux" ? undefined : "this is not Linux";

/** The superuser may read and write everything, so nothing can be kept from it. */
export const ORDINARY_USER_LACK: Lack =
  process.getuid?.() === 0 ? "the superuser may do everything" : undefined;

export function levelLack(level: SandboxLevel): Lack {
  return level === "sandbox" ? SANDBOX_LACK : undefined;
}

export function programLack(...programs: readonly string[]): Lack {
  const path = process.env["PATH"] ?? "";
  const missing = programs.find((name) => findProgram(name, path, "/") === undefined);
  return missing && `there is no ${missing}`;
}

/** A terminal of one's own, as `script` of util-linux makes it. */
export const TERMINAL_LACK: Lack = LINUX_LACK ?? programLack("script");

/**
 * Names tests that need something: `const held = unless(SANDBOX_LACK)`, then `it(...held("hides the home
 * folder"), …)`. They run where nothing is lacking, and say what is where they are skipped.
 */
export function unless(lack: Lack): (name: string) => [name: string, options: { skip: boolean }] {
  if (lack === undefined) return (name) => [name, { skip: false }];
  return (name) => [`${name} (skipped: ${lack})`, { skip: true }];
}
