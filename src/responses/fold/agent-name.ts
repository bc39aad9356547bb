/** The names of a team's agents: `/root`, `/root/research`, `/root/research/sources`. */

export const ROOT = "/root";

/** True for the last part of a name, as models write it. */
export function isTaskName(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,48}$/.test(text);
}

/** The agent that a name means: a full name, or one below the agent that wrote it. */
export function toAgentName(text: string, me: string): string {
  const name = text.trim().replace(/\/+$/, "");
  if (name === "root") return ROOT;
  return name.startsWith("/") ? name : `${me}/${name}`;
}

export function isBelow(name: string, above: string): boolean {
  return name.startsWith(`${above}/`);
}

/** True if `above` itself started it. */
export function isChild(name: string, above: string): boolean {
  return isBelow(name, above) && !name.slice(above.length + 1).includes("/");
}
