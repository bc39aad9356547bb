/**
 * The most that a run may do. A grant only shrinks: a child's is its parent's and one layer more, and a
 * call must match every layer.
 */

import { matchesGlob } from "../../base/glob.ts";
import type { SandboxLevel } from "../sandbox/sandbox.ts";

export type Grant = readonly GrantLayer[];

/** Globs. A call must match one of each list that it touches; a missing list limits nothing. */
export interface GrantLayer {
  /** Names of tools. */
  readonly tools?: readonly string[];
  /** Paths, relative to the workspace. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Host names, without ports. */
  readonly hosts?: readonly string[];
  /** The weakest sandbox that its commands may have. */
  readonly sandbox?: SandboxLevel;
}

/** Everything: the grant of a run that a user starts. */
export const WHOLE_GRANT: Grant = [];

type Kind = "tools" | "reads" | "writes" | "hosts";

export function grants(grant: Grant, kind: Kind, name: string): boolean {
  return grant.every((layer) => layer[kind]?.some((glob) => matchesGlob(name, glob)) ?? true);
}

/**
 * True if a path may be read, or is a folder above one that may. The entries of a folder are checked file
 * by file.
 */
export function leadsToGranted(grant: Grant, path: string): boolean {
  const below = path === "" ? "" : `${path}/`;
  return grant.every(
    ({ reads }) => reads?.some((glob) => matchesGlob(path, glob) || glob.startsWith(below)) ?? true,
  );
}

/** True if the grant has no limit of this kind: what a command touches is not known beforehand. */
export function grantsAll(grant: Grant, kind: Kind): boolean {
  return grant.every((layer) => layer[kind]?.includes("**") ?? true);
}

const ORDER: readonly SandboxLevel[] = ["none", "process", "sandbox"];

/** The strictest level that a layer requires, or `level` if that is stricter. */
export function sandboxOf(grant: Grant, level: SandboxLevel): SandboxLevel {
  const levels = [level, ...grant.flatMap(({ sandbox }) => sandbox ?? [])];
  return ORDER.findLast((one) => levels.includes(one)) ?? level;
}
