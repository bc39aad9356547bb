/**
 * What the model's vendor does itself of a request, and who decides: the vendor by what it has, the
 * operator by the settings, the request by its words. Everything else is this server's, or left out.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import type { Native } from "../../protocol/native.ts";
import { TOOL_TYPES, type Tool } from "../../protocol/tools.ts";
import { BACKED_KINDS } from "../kinds/mcp-backing.ts";
import { type IsBacked, isForVendor, kindOf } from "../request/hosted-kinds.ts";

export const NOT_NATIVE: Native = {
  runs: () => false,
  lost: () => [],
  knows: () => false,
  owns: () => false,
  isPriced: () => true,
  readsStores: () => false,
};

export interface NativeChoice {
  /** Whether the settings put a tool of an MCP server in place of a kind. */
  readonly isBacked: IsBacked;
  /** The kinds that vendors may run, by globs. What reads the operator's own stores is listed by its name. */
  readonly nativeTools: readonly string[];
  /** Whether a limit in dollars has to be kept, which nobody can with prices that are not known. */
  readonly isLimited?: boolean | undefined;
}

/** The vendor's own, as far as the operator and the request leave it to the vendor. */
export function chooseNative(native: Native | undefined, choice: NativeChoice): Native {
  if (!native) return NOT_NATIVE;
  return {
    ...native,
    runs(tool, asked) {
      if (!isLeft(tool, native, choice) || !native.runs(tool, asked)) return false;
      if (!choice.isLimited || native.isPriced(tool)) return true;
      if (isServers(tool)) return false;
      const message = `The price of \`${tool.type}\` is not known, so no limit in US dollars can be kept with it. Leave it out, or limit tokens instead.`;
      throw new Failure("invalid_request", message, { param: "tools" });
    },
  };
}

function isLeft(tool: Tool, native: Native, { isBacked, nativeTools }: NativeChoice): boolean {
  const kind = kindOf(tool);
  // It is read with the rights of whoever runs this server, which no client has for being a client.
  if (native.readsStores(tool)) return nativeTools.includes(kind);
  if (isServers(tool) && (isBacked(kind) || asksServer(tool))) return false;
  return !isForVendor(tool) || nativeTools.some((glob) => matchesGlob(kind, glob));
}

/** A kind of the Responses API that this server can run as well, under one of the API's own names. */
function isServers(tool: Tool): boolean {
  return TOOL_TYPES.includes(tool.type) && BACKED_KINDS.includes(kindOf(tool));
}

/** `{"type": "web_search", "execution": "server"}`. */
function asksServer(tool: Tool): boolean {
  return "execution" in tool && tool.execution === "server";
}
