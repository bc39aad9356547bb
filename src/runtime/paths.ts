/** Where the user's and the project's files are. Checks which folders exist; reads and creates nothing. */

import { existsSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../base/environment.ts";

export interface UserPaths {
  readonly configFile: string;
  readonly dataDir: string;
  /** The record of runs. */
  readonly runsFile: string;
  /** Pulled models. */
  readonly modelsDir: string;
  /** The list of project files that may set guarded settings. */
  readonly trustFile: string;
  /** The approved tools of MCP servers. */
  readonly pinsFile: string;
  /** The keys that were stored with `offshoot auth set`, a file each. */
  readonly authDir: string;
  /** The logins at MCP servers. */
  readonly loginsFile: string;
  /** The approved MCP servers of editors. */
  readonly editorServersFile: string;
  /** The key that grants of child processes are signed with. */
  readonly grantKeyFile: string;
}

/** The paths of a user's files, the same on every system, so that they are easy to remember. */
export function userPaths(env: Environment, home: string): UserPaths {
  const config = folderIn(env, "XDG_CONFIG_HOME") ?? join(home, ".config");
  const data = folderIn(env, "XDG_DATA_HOME") ?? join(home, ".local", "share");
  const dataDir = env["OFFSHOOT_DATA"] ? resolve(env["OFFSHOOT_DATA"]) : join(data, "offshoot");
  return {
    configFile: env["OFFSHOOT_CONFIG"]
      ? resolve(env["OFFSHOOT_CONFIG"])
      : join(config, "offshoot", "config.yaml"),
    dataDir,
    runsFile: join(dataDir, "runs.db"),
    modelsDir: join(dataDir, "models"),
    trustFile: join(dataDir, "trusted.json"),
    pinsFile: join(dataDir, "mcp-pins.json"),
    authDir: join(dataDir, "auth"),
    loginsFile: join(dataDir, "mcp-logins.json"),
    editorServersFile: join(dataDir, "editor-servers.json"),
    grantKeyFile: join(dataDir, "grant.key"),
  };
}

/** The path of a project's file, below the project's folder. */
export const PROJECT_FILE = join(".offshoot", "config.yaml");

/**
 * The nearest project file in `cwd` or above it. The search ends with the folder that holds `.git`, and before the
 * home folder: a file there would apply to every project of the user.
 */
export function projectConfigFile(cwd: string, home: string): string | undefined {
  for (let at = resolve(cwd); at !== resolve(home); at = dirname(at)) {
    const file = join(at, PROJECT_FILE);
    if (existsSync(file)) return file;
    if (existsSync(join(at, ".git")) || at === dirname(at)) return undefined;
  }
  return undefined;
}

/**
 * The first of a project's file, its folder and the project's folder that belongs neither to this user nor to root:
 * the owner of any of them decides what the file says. Undefined if there is none.
 */
export function findForeign(file: string, uid: number | undefined): string | undefined {
  if (uid === undefined) return undefined;
  const folder = dirname(file);
  return [file, folder, dirname(folder)].find((path) => {
    const owner = statSync(path, { throwIfNoEntry: false })?.uid;
    return owner !== undefined && owner !== uid && owner !== 0;
  });
}

// The XDG rules call a relative path invalid, to be ignored.
function folderIn(env: Environment, variable: string): string | undefined {
  const value = env[variable];
  return value !== undefined && isAbsolute(value) ? value : undefined;
}
