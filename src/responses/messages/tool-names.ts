/**
 * Names of the client's tools for models of other vendors. The Messages API allows 128 characters, and clients use
 * them: Claude Code joins the names of a plugin, of a server and of its tool. Other vendors accept 64.
 */

import { fitName } from "../bridge/fit-name.ts";
import type { ToolParam } from "./messages-request.ts";

/** The name under which the model knows a tool; the vendor gets it unchanged. */
export function toModelName(name: string, isVendor: boolean): string {
  return isVendor ? name : fitName(name);
}

/** The client's names of the tools that the model knows under other names. */
export function toClientNames(
  tools: readonly ToolParam[] | null | undefined,
  isVendor: boolean,
): ReadonlyMap<string, string> {
  const names = (tools ?? []).flatMap(({ name }) => name ?? []);
  const pairs = names.map((name) => [toModelName(name, isVendor), name] as const);
  return new Map(pairs.filter(([known, name]) => known !== name));
}
