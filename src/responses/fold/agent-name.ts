/** What the agents of a team are called: `/root`, `/root/research`, `/root/research/sources`. */

export const ROOT = "/root";

/** The last part of a name, as models give it. */
export function isTaskName(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,48}$/.test(text);
}

/** The name that an agent means: a whole one, or one of those below it. */
export function toAgentName(text: string, me: string): string {
  const name = text.trim().replace(/\/+$/, "");
  if (name === "root") return ROOT;
  return name.startsWith("/") ? name : `${me}/${name}`;
}

export function isBelow(name: string, above: string): boolean {
  return name.startsWith(`${above}/`);
}

/** Whether it was started by `above` itself. */
export function isChild(name: string, above: string): boolean {
  return isBelow(name, above) && !name.slice(above.length + 1).includes("/");
}
