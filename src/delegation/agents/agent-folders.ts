/** Where agents are looked for. Checks which folders exist; reads and creates nothing. */

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { AgentPlace } from "./load-agents.ts";

/** Below the project's folder. */
const PROJECT_FOLDER = join(".offshoot", "agents");

interface Surroundings {
  readonly userFolder: string;
  readonly cwd: string;
  readonly home: string;
  readonly standingOf: AgentPlace["standingOf"];
}

/** The places of agents in rising order of precedence, as `loadAgents` takes them. */
export function toAgentPlaces({ userFolder, cwd, home, standingOf }: Surroundings): AgentPlace[] {
  const project = findProjectFolder(cwd, home, (at) => existsSync(join(at, PROJECT_FOLDER)));
  const user = { scope: "user", folder: userFolder, standingOf } as const;
  if (project === undefined) return [user];
  return [user, { scope: "project", folder: join(project, PROJECT_FOLDER), standingOf }];
}

/** The folder for a new agent of the project; undefined in the home folder, which is not a project. */
export function toProjectAgentsFolder(cwd: string, home: string): string | undefined {
  if (resolve(cwd) === resolve(home)) return undefined;
  const isProject = (at: string): boolean => existsSync(join(at, ".offshoot"));
  return join(findProjectFolder(cwd, home, isProject) ?? resolve(cwd), PROJECT_FOLDER);
}

/**
 * The nearest folder that matches: `cwd` or one above it. The search ends with the folder that holds `.git`, and
 * before the home folder: agents there would belong to every project of the user.
 */
function findProjectFolder(
  cwd: string,
  home: string,
  fits: (folder: string) => boolean,
): string | undefined {
  for (let at = resolve(cwd); at !== resolve(home); at = dirname(at)) {
    if (fits(at)) return at;
    if (existsSync(join(at, ".git")) || at === dirname(at)) return undefined;
  }
  return undefined;
}
