/** What a server of ours is given of the environment: what programs need to run, and what was asked for. */

import { expandVariables, type McpServer, type StdioReach } from "../server.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Nothing here holds a key. What else a server needs is named in its `env`. */
const PASSED_ON: readonly RegExp[] = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|TZ|TMPDIR|TEMP|TMP)$/,
  /^LC_[A-Z]+$/,
  /^XDG_(CACHE|CONFIG|DATA|STATE)_HOME$/,
  /^XDG_RUNTIME_DIR$/,
  /^(SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMFILES|USERPROFILE|HOMEDRIVE|HOMEPATH|USERNAME)$/i,
];

export function toServerEnvironment(
  { name }: McpServer,
  reach: StdioReach,
  env: Environment,
): Record<string, string> {
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && PASSED_ON.some((names) => names.test(entry[0])),
  );
  return { ...Object.fromEntries(passed), ...expandAll(name, reach.env, env) };
}

/** Rejects with `key_missing` for a variable that is not set. */
export function expandAll(
  server: string,
  templates: Readonly<Record<string, string>>,
  env: Environment,
): Record<string, string> {
  const what = `The MCP server \`${server}\``;
  const entries = Object.entries(templates).map(([name, template]): [string, string] => [
    name,
    expandVariables(template, env, what),
  ]);
  return Object.fromEntries(entries);
}
