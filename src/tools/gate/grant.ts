/**
 * What a run may do at most. A grant only shrinks: a child's is its parent's and one layer more, and a
 * call must fit every layer.
 */

import { matchesGlob } from "../../base/glob.ts";
import type { SandboxLevel } from "../sandbox/sandbox.ts";

export type Grant = readonly GrantLayer[];

/** Globs. A call must fit one of each list that it touches; a list left out limits nothing. */
export interface GrantLayer {
  /** Names of tools. */
  readonly tools?: readonly string[];
  /** Paths, relative to the workspace. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Host names, without ports. */
  readonly hosts?: readonly string[];
  /** The least that must hold its commands. */
  readonly sandbox?: SandboxLevel;
}

/** Everything: the grant of a run that a person starts. */
export const WHOLE_GRANT: Grant = [];

type Kind = "tools" | "reads" | "writes" | "hosts";

export function grants(grant: Grant, kind: Kind, name: string): boolean {
  return grant.every((layer) => layer[kind]?.some((glob) => matchesGlob(name, glob)) ?? true);
}

/** Whether a path may be read, or is a folder on the way to what may: what it holds is weighed file by file. */
export function leadsToGranted(grant: Grant, path: string): boolean {
  const below = path === "" ? "" : `${path}/`;
  return grant.every(
    ({ reads }) => reads?.some((glob) => matchesGlob(path, glob) || glob.startsWith(below)) ?? true,
  );
}

/** Whether all of this kind is granted: nobody can say what a command touches beforehand. */
export function grantsAll(grant: Grant, kind: Kind): boolean {
  return grant.every((layer) => layer[kind]?.includes("**") ?? true);
}

const ORDER: readonly SandboxLevel[] = ["none", "process", "sandbox"];

/** The strictest level that a layer asks for, or `level` where that is stricter. */
export function sandboxOf(grant: Grant, level: SandboxLevel): SandboxLevel {
  const levels = [level, ...grant.flatMap(({ sandbox }) => sandbox ?? [])];
  return ORDER.findLast((one) => levels.includes(one)) ?? level;
}
