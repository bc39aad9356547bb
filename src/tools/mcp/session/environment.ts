/** The environment of a server that we start: what programs need to run, and what its settings name. */

import type { Environment } from "../../../base/environment.ts";
import { commandVariables } from "../../sandbox/environment.ts";
import { readDepth, toDepthVariable } from "../depth.ts";
import { expandVariables, type McpServer, type StdioReach } from "../server.ts";

/**
 * In addition to what every command gets, because servers are installed programs with files of their own.
 * None of these contains a key; a server's `env` names what else it needs.
 */
const ALSO: readonly RegExp[] = [
  /^XDG_(CACHE_HOME|CONFIG_HOME|DATA_HOME|STATE_HOME|RUNTIME_DIR)$/,
  /^(TEMP|TMP)$/,
  /^(SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMFILES|USERPROFILE|HOMEDRIVE|HOMEPATH|USERNAME)$/i,
];

export function toServerEnvironment(
  { name }: McpServer,
  reach: StdioReach,
  env: Environment,
): Record<string, string> {
  const also = Object.keys(env).filter((variable) => ALSO.some((names) => names.test(variable)));
  const depth = toDepthVariable(readDepth(env));
  return { ...commandVariables(env, also), ...depth, ...expandAll(name, reach.env, env) };
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
