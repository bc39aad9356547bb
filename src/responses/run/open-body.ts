/**
 * The body of responses on one engine, made of the runtime's parts, the stores and the settings.
 */

import type { RunBody } from "../../engine/engine.ts";
import { readWholeLog } from "../../engine/read-log.ts";
import type { NativeChoice } from "../bridge/native.ts";
import { type BeforeParts, readBefore } from "../conversations/conversation-before.ts";
import { type BackingSettings, findBackingTool } from "../kinds/mcp-backing.ts";
import { createRequestMcp } from "../kinds/request-mcp.ts";
import type { WebMediaSettings } from "../media/web-media.ts";
import { createTeamSlots } from "../multi-agent/team-slots.ts";
import type { IsBacked } from "../request/hosted-kinds.ts";
import { unsealTools } from "../request/seal-tools.ts";
import type { Seals } from "../sealing/seals.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { EnterPlace } from "./background-queue.ts";
import type { HandedCalls } from "./handed-calls.ts";
import { keepOutput } from "./keep-output.ts";
import type { MachineParts } from "./machine-kinds.ts";
import type { OpenedSearch } from "./open-search.ts";
import { createResponseBody } from "./response-body.ts";
import { createKinds } from "./response-kinds.ts";
import type { ResponseMoney } from "./response-money.ts";
import type { ResponsesParts } from "./responses-parts.ts";

export interface BodySettings extends ResponseMoney {
  /** Tools of configured MCP servers for kinds: `web_search: search/query`. */
  readonly backing?: BackingSettings | undefined;
  /** The kinds of tools that vendors may run themselves, as globs; all when left out. */
  readonly nativeTools?: readonly string[] | undefined;
  /** The parts that run on this machine for clients: code, shells, patches, pictures. */
  readonly machine?: Omit<MachineParts, "kept"> | undefined;
  /** Seals secrets in stored requests, and compacted conversations. */
  readonly sealKey: Uint8Array;
  /** Counts a running background response among its key's. */
  readonly enterPlace?: EnterPlace | undefined;
  /** How images and files are fetched that requests name by address. */
  readonly web?: WebMediaSettings | undefined;
}

/** The stores that the bodies of all engines share. */
export interface BodyStores {
  readonly kept: ShelfParts;
  readonly before: BeforeParts;
  readonly seals: Seals;
  readonly search: OpenedSearch;
  readonly handed: HandedCalls;
  /** The program's version, for MCP servers. */
  readonly version: string;
}

export function openBody(
  parts: ResponsesParts,
  settings: BodySettings,
  stores: BodyStores,
): RunBody {
  const { kept, before, seals, search, handed, version } = stores;
  const { backing, charge, settle, openPurse, enterPlace, web = {} } = settings;
  return createResponseBody({
    ...parts,
    slots: createTeamSlots(),
    handed,
    charge,
    settle,
    openPurse,
    enterPlace,
    kinds: createKinds({
      connectMcp: createRequestMcp({ clock: parts.clock, version, network: toNetwork(web) }),
      machine: { ...settings.machine, kept },
      search: search.kinds,
      // Resolved by the first request that names the kind: servers are started then.
      findBacking: backing && ((kind) => findBackingTool(backing, kind, parts.toolbox)),
    }),
    context: { ...seals, kept, web, mediaOf: parts.mediaOf, askInWords: parts.askInWords },
    readBefore: (wish) => readBefore(before, wish),
    unseal: (tools) => unsealTools(tools, settings.sealKey),
    ...toNativeChoice(settings),
    readLog: (runId) => readWholeLog(parts.engine.record, runId),
    keepOutput: (wish, context, outcome) => keepOutput(kept, { wish, context, outcome }),
  });
}

/** MCP servers of requests are reached like all else that requests name by address. */
function toNetwork({ privateHosts = [], resolve, ca }: WebMediaSettings) {
  return { privateHosts, resolve, ca };
}

export function toIsBacked({ backing = {} }: Pick<BodySettings, "backing">): IsBacked {
  return (kind) => Object.hasOwn(backing, kind);
}

export function toNativeChoice(
  settings: Pick<BodySettings, "backing" | "nativeTools">,
): NativeChoice {
  return { isBacked: toIsBacked(settings), nativeTools: settings.nativeTools ?? ["*"] };
}
