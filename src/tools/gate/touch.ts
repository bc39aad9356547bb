/**
 * What a call touches, resolved: paths to where they really lead, a command to the commands in it. The
 * grant and the rules are held against this, and not against what the model wrote alone.
 */

import { resolve } from "node:path";
import { type Failure, toFailure } from "../../base/failure.ts";
import { findGit } from "../commands/repository.ts";
import type { Effect, Tool } from "../tool.ts";
import { isSensitive } from "../workspace/protected.ts";
import { findRelative } from "../workspace/resolve-inside.ts";
import type { Use, Workspace } from "../workspace/workspace.ts";
import type { GateParts } from "./call.ts";
import { type Grant, grants, grantsAll, leadsToGranted } from "./grant.ts";
import { type CommandReading, readCommand } from "./read-command.ts";
import type { Touched } from "./rules.ts";

export interface Touch extends Touched {
  /** Of the paths, those that the tool itself opens. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly sensitive: string | undefined;
  /** What the workspace refuses; told only when neither a rule nor the grant did. */
  readonly blocked: Failure | undefined;
}

export async function touch(
  tool: Tool,
  input: unknown,
  { workspace, sandbox }: Pick<GateParts, "workspace" | "sandbox">,
): Promise<Touch> {
  const targets = tool.targets?.(input) ?? {};
  const [reads, writes] = await Promise.all([
    resolveAll(targets.reads ?? [], "read", workspace),
    resolveAll(targets.writes ?? [], "write", workspace),
  ]);
  const command = targets.command && readCommand(targets.command);
  const named = command ? await toNamedPaths(command, targets.reads?.[0] ?? "", workspace) : [];
  const paths = [...new Set([...reads.paths, ...writes.paths, ...named])];
  // Where the system hides what is refused, what the words say matters less.
  const isHeld = sandbox.level === "sandbox";
  return {
    tool: tool.spec.name,
    paths,
    reads: reads.paths,
    writes: writes.paths,
    hosts: targets.hosts ?? [],
    commands: command?.commands,
    unlisted: command?.unlisted ?? [],
    staysInRepository: !command || staysHere(command, reads.paths, workspace),
    redirects: command?.writes ?? [],
    isReadable: command?.isReadable ?? true,
    arePathsReadable: !command || isHeld || (command.isReadable && hasPlainPaths(command)),
    sensitive: paths.find(isSensitive),
    blocked: reads.blocked ?? writes.blocked,
  };
}

interface Resolved {
  readonly paths: string[];
  readonly blocked: Failure | undefined;
}

/** What is not there is left to the tool to say; what must not be touched is not even looked for. */
async function resolveAll(
  given: readonly string[],
  use: Use,
  workspace: Workspace,
): Promise<Resolved> {
  const paths = new Set<string>();
  let blocked: Failure | undefined;
  for (const path of given) {
    const written = findRelative(workspace.root, path);
    if (written !== undefined) paths.add(written);
    try {
      paths.add((await workspace.locate(path, use)).relative);
    } catch (thrown) {
      const failure = toFailure(thrown);
      if (failure.code === "forbidden") blocked ??= failure;
    }
  }
  return { paths: [...paths], blocked };
}

/**
 * Whether git is started at the top of the workspace and told of no place outside of it: its repository
 * is then the one that the user works in. `folders` are the names of the folder a command is started in.
 */
function staysHere(
  { commands, staysInRepository }: CommandReading,
  folders: readonly string[],
  { root }: Workspace,
): boolean {
  const gits = findGit(commands);
  if (gits.length === 0) return staysInRepository;
  // Also the value of an option: `--prefix=/x`, `-o/x`.
  const places = gits.flat().map((word) => word.replace(/^-\w+(?=[/~.])|^--?[\w-]+=/, ""));
  const isOutside = (place: string): boolean =>
    place.startsWith("~") || findRelative(root, resolve(root, place)) === undefined;
  return staysInRepository && folders.every((path) => path === "") && !places.some(isOutside);
}

/** More words than a person writes: the rest is looked at as it is written. */
const MAX_LOCATED = 100;

/**
 * The words of a command that may be paths, from the folder it starts in: as they are written, and
 * where they really lead.
 */
async function toNamedPaths(
  { commands, reads, writes }: CommandReading,
  folder: string,
  workspace: Workspace,
): Promise<string[]> {
  const words = commands.flatMap(([, ...rest]) => rest).filter((word) => !word.startsWith("-"));
  const given = [...words, ...reads, ...writes].map((word) =>
    resolve(workspace.root, folder, word),
  );
  const written = given.flatMap((path) => findRelative(workspace.root, path) ?? []);
  const real = await resolveAll(given.slice(0, MAX_LOCATED), "read", workspace);
  return [...written, ...real.paths];
}

/** Whether the words say which paths: neither a pattern nor a change of the folder. */
function hasPlainPaths({ commands }: CommandReading): boolean {
  const isMoved = commands.some(([program = ""]) => /^(?:cd|pushd|popd)$/.test(program));
  return !isMoved && !commands.flat().some((word) => /[*?[{~]/.test(word));
}

/** Why the run was not granted the call, or nothing. */
export function findUngranted(grant: Grant, effect: Effect, touched: Touch): string | undefined {
  if (!grants(grant, "tools", touched.tool)) return "the tool";
  const read = touched.reads.find((path) => !leadsToGranted(grant, path));
  if (read !== undefined) return `reading \`${read}\``;
  const write = touched.writes.find((path) => !grants(grant, "writes", path));
  if (write !== undefined) return `writing \`${write}\``;
  const host = touched.hosts.find((one) => !grants(grant, "hosts", one));
  if (host !== undefined) return `the host \`${host}\``;
  // Nobody can say beforehand what a program touches.
  const isFree = (["reads", "writes", "hosts"] as const).every((kind) => grantsAll(grant, kind));
  const runsPrograms = effect === "execute" || effect === "external";
  return runsPrograms && !isFree ? "commands: its paths or hosts are limited" : undefined;
}
