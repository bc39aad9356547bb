/** A kind whose calls go to a tool that the settings name, in place of the server's own. */

import type { Tool as GateTool } from "../../tools/tool.ts";
import type { Offer, ToolKind } from "./tool-kind.ts";

/** The tool behind a kind, by the kind's name; undefined where the settings name none. */
export type FindBacking = (kind: string) => Promise<GateTool | undefined>;

/** What the model is offered, and what the client sees, stay the kind's own. */
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

/** `web_search_preview` is `web_search` under an older name: the first that the settings know counts. */
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

/** Of a kind with several functions, the one that bears its name is meant. */
function backOffer(offer: Offer, backing: GateTool, { toolTypes }: ToolKind): Offer {
  if (!offer.run || !toolTypes.includes(offer.key)) return offer;
  return { ...offer, run: { ...offer.run, tool: backing } };
}
