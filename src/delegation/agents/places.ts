/** Where agents are looked for. Looks at folders, reads and makes nothing. */

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

/** In rising order, as `loadAgents` takes them. */
export function toAgentPlaces({ userFolder, cwd, home, standingOf }: Surroundings): AgentPlace[] {
  const project = findProjectFolder(cwd, home, (at) => existsSync(join(at, PROJECT_FOLDER)));
  const user = { scope: "user", folder: userFolder, standingOf } as const;
  if (project === undefined) return [user];
  return [user, { scope: "project", folder: join(project, PROJECT_FOLDER), standingOf }];
}

/** Where a new agent of the project goes: undefined in the home folder, which is no project. */
export function toProjectAgentsFolder(cwd: string, home: string): string | undefined {
  if (resolve(cwd) === resolve(home)) return undefined;
  const isProject = (at: string): boolean => existsSync(join(at, ".offshoot"));
  return join(findProjectFolder(cwd, home, isProject) ?? resolve(cwd), PROJECT_FOLDER);
}

/**
 * The nearest folder that fits, `cwd` or above it. The search ends with the folder that holds `.git`,
 * and before the home folder: agents there would be those of every project of the user.
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
