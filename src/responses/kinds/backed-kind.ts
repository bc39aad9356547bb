/** A kind whose calls go to a tool that the settings name, in place of the server's own. */

import type { Tool as GateTool } from "../../tools/tool.ts";
import type { Offer, ToolKind } from "./tool-kind.ts";

/** The tool for a kind, by the kind's name; undefined if the settings name none. */
export type FindBacking = (kind: string) => Promise<GateTool | undefined>;

/** The model's offer and the client's view stay those of the kind. */
export function backKind(kind: ToolKind, find: FindBacking): ToolKind {
  return {
    ...kind,
    async open(tool, request) {
      const backing = await findFirst(kind.toolTypes, find);
      const opened = await kind.open(tool, request, backing);
      if (!backing) return opened;
      return { ...opened, offers: opened.offers.map((offer) => backOffer(offer, backing, kind)) };
    },
  };
}

/**
 * `web_search_preview` is an older name of `web_search`: the first that the settings have is used.
 */
async function findFirst(
  types: readonly string[],
  find: FindBacking,
): Promise<GateTool | undefined> {
  for (const type of types) {
    const found = await find(type);
    if (found) return found;
  }
  return undefined;
}

/** If a kind has several functions, the one with the kind's name is replaced. */
function backOffer(offer: Offer, backing: GateTool, { toolTypes }: ToolKind): Offer {
  if (!offer.run || !toolTypes.includes(offer.key)) return offer;
  return { ...offer, run: { ...offer.run, tool: backing } };
}
