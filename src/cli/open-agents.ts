/** Where the agents for a command are looked for; those of a project count when they are trusted. */

import { dirname, join } from "node:path";
import type { AgentPlace } from "../delegation/agents/load-agents.ts";
import { toAgentPlaces } from "../delegation/agents/places.ts";
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

/** Beside the configuration where it usually is, wherever `OFFSHOOT_CONFIG` says it is now. */
export function toUserFolder({ env, home }: Pick<Io, "env" | "home">): string {
  return join(
    dirname(userPaths({ ...env, OFFSHOOT_CONFIG: undefined }, home).configFile),
    "agents",
  );
}
