/**
 * Chooses which tools of a request the model's vendor runs itself: the vendor by what it has, the operator by the
 * settings, the request by its fields. The server runs the other tools, or leaves them out.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { BACKED_KINDS } from "../../protocol/hosted-kinds/backed-kinds.ts";
import type { Native } from "../../protocol/native.ts";
import { TOOL_TYPES, type Tool } from "../../protocol/tools.ts";
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
  /** True if the settings put a tool of an MCP server in place of a kind. */
  readonly isBacked: IsBacked;
  /**
   * The kinds that vendors may run, as globs. A kind that reads the operator's own stores must be listed by its name.
   */
  readonly nativeTools: readonly string[];
  /** True if a limit in dollars applies, which cannot be kept with unknown prices. */
  readonly isLimited?: boolean | undefined;
}

/** The vendor's own tools, as far as the operator and the request allow. */
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
  // The store would be read with the operator's rights, which a client does not have by itself.
  if (native.readsStores(tool)) return nativeTools.includes(kind);
  if (isServers(tool) && (isBacked(kind) || asksServer(tool))) return false;
  return !isForVendor(tool) || nativeTools.some((glob) => matchesGlob(kind, glob));
}

/** A kind of the Responses API that this server can run too, under one of the API's own names. */
function isServers(tool: Tool): boolean {
  return TOOL_TYPES.includes(tool.type) && BACKED_KINDS.includes(kindOf(tool));
}

/** For example `{"type": "web_search", "execution": "server"}`. */
function asksServer(tool: Tool): boolean {
  return "execution" in tool && tool.execution === "server";
}
