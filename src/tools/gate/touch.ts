/**
 * Finds what a call touches, resolved: paths to where they really lead, a command to its simple commands.
 * The grant and the rules are checked against this, and not only against what the model wrote.
 */

import { type Failure, toFailure } from "../../base/failure.ts";
import { findGit, findRemotes } from "../commands/repository.ts";
import type { Effect, Tool } from "../tool.ts";
import { isSensitive } from "../workspace/protected.ts";
import { findRelative } from "../workspace/resolve-inside.ts";
import type { Use, Workspace } from "../workspace/workspace.ts";
import type { GateParts } from "./call.ts";
import { type CommandPlaces, findPlaces } from "./command-places.ts";
import { type Grant, grants, grantsAll, leadsToGranted } from "./grant.ts";
import { type CommandReading, readCommand } from "./read-command.ts";
import type { Touched } from "./rules.ts";

export interface Touch extends Touched {
  /** The paths that the tool itself opens. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly sensitive: string | undefined;
  /**
   * The failure for paths that the workspace refuses. It is reported only if neither a rule nor the grant
   * denied the call.
   */
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
  const named = command ? await findNamed(command, targets.reads?.[0] ?? "", workspace) : NO_PLACES;
  const paths = [...new Set([...reads.paths, ...writes.paths, ...named.paths])];
  // If the system hides protected files, the words of a command matter less.
  const isHeld = sandbox.level === "sandbox";
  return {
    tool: tool.judgedAs ?? tool.spec.name,
    paths,
    reads: reads.paths,
    writes: writes.paths,
    hosts: targets.hosts ?? [],
    commands: command?.commands,
    unlisted: command?.unlisted ?? [],
    staysInRepository: !command || (await staysHere(command, reads.paths, workspace)),
    redirects: command?.writes ?? [],
    isReadable: command?.isReadable ?? true,
    arePathsReadable:
      !command || isHeld || (command.isReadable && named.isWhole && hasPlainPaths(command)),
    sensitive: paths.find(isSensitive),
    blocked: reads.blocked ?? writes.blocked,
  };
}

interface Resolved {
  readonly paths: string[];
  readonly blocked: Failure | undefined;
}

/** Resolves paths. The tool reports missing ones itself; protected ones are not even looked up. */
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
 * True if git is started at the top of the workspace and no word leads outside of it: its repository is
 * then the user's own. `folders` are the names of the folder in which a command is started.
 */
async function staysHere(
  { commands, staysInRepository }: CommandReading,
  folders: readonly string[],
  workspace: Workspace,
): Promise<boolean> {
  const gits = findGit(commands);
  if (!staysInRepository || gits.length === 0) return staysInRepository;
  if (!folders.every((path) => path === "")) return false;
  const { leadOut, isWhole } = await findPlaces(gits.flat(), "", workspace);
  if (leadOut || !isWhole) return false;
  const remotes = await Promise.all(
    findRemotes(commands).map((name) => workspace.follow(name).catch(() => undefined)),
  );
  return remotes.every((place) => place?.exists === false);
}

const NO_PLACES: CommandPlaces = { paths: [], leadOut: false, isWhole: true };

/** The paths that a command may touch, as far as its words say. */
function findNamed(
  { commands, reads, writes }: CommandReading,
  folder: string,
  workspace: Workspace,
): Promise<CommandPlaces> {
  const words = commands.flatMap(([, ...rest]) => rest);
  return findPlaces([...words, ...reads, ...writes], folder, workspace);
}

/**
 * True if the words name their paths: without patterns, without a change of the folder, and without a link
 * for later words.
 */
function hasPlainPaths({ commands }: CommandReading): boolean {
  const moving = commands.length > 1 ? /(?:^|\/)(?:cd|pushd|popd|ln|link)$/ : /^(?:cd|pushd|popd)$/;
  const isMoved = commands.some(([program = ""]) => moving.test(program));
  return !isMoved && !commands.flat().some((word) => /[*?[{~]/.test(word));
}

/** Why the grant does not cover the call; undefined if it does. */
export function findUngranted(grant: Grant, effect: Effect, touched: Touch): string | undefined {
  if (!grants(grant, "tools", touched.tool)) return "the tool";
  const read = touched.reads.find((path) => !leadsToGranted(grant, path));
  if (read !== undefined) return `reading \`${read}\``;
  const write = touched.writes.find((path) => !grants(grant, "writes", path));
  if (write !== undefined) return `writing \`${write}\``;
  const host = touched.hosts.find((one) => !grants(grant, "hosts", one));
  if (host !== undefined) return `the host \`${host}\``;
  // The targets of a program are not known beforehand.
  const isFree = (["reads", "writes", "hosts"] as const).every((kind) => grantsAll(grant, kind));
  const runsPrograms = effect === "execute" || effect === "external";
  return runsPrograms && !isFree ? "commands: its paths or hosts are limited" : undefined;
}
