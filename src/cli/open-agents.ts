/** Where a command looks for agents. Those of a project are used only if they are trusted. */

import { dirname, join } from "node:path";
import { toAgentPlaces } from "../delegation/agents/agent-folders.ts";
import type { AgentPlace } from "../delegation/agents/load-agents.ts";
import { findForeign, userPaths } from "../runtime/paths.ts";
import type { Io } from "./io.ts";

export async function toPlaces({ env, home, cwd }: Io): Promise<AgentPlace[]> {
  const { trustFile } = userPaths(env, home);
  const { standingOf } = await import("../runtime/trust.ts");
  const userFolder = toUserFolder({ env, home });
  const places = toAgentPlaces({
    userFolder,
    cwd,
    home,
    standingOf: (file) => standingOf(trustFile, file),
  });
  return places.map((place) => {
    if (place.scope === "user") return place;
    return { ...place, foreign: findForeign(place.folder, process.getuid?.()) };
  });
}

/** In the usual folder of the configuration, even if `OFFSHOOT_CONFIG` names another file. */
export function toUserFolder({ env, home }: Pick<Io, "env" | "home">): string {
  return join(
    dirname(userPaths({ ...env, OFFSHOOT_CONFIG: undefined }, home).configFile),
    "agents",
  );
}
