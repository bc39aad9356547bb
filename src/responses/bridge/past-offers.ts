/**
 * The tools that a run was offered, as its journal has them. A process that takes the run over offers the same ones,
 * whatever the server's settings, its version or other servers have become since. Pure.
 */

import { Failure } from "../../base/failure.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import type { Offer } from "../kinds/tool-kind.ts";

export interface PastOffer {
  readonly key: string;
  /** Left out if a list in the conversation has it. */
  readonly spec?: FunctionTool | undefined;
}

export function toPastOffers(offers: readonly Offer[]): PastOffer[] {
  return offers.map(({ key, spec, isListed }) => (isListed ? { key } : { key, spec }));
}

/**
 * The offers of the past, in their order. Throws `conflict` for one that does not exist any more.
 */
export function offerAgain(offers: readonly Offer[], past: readonly PastOffer[]): Offer[] {
  const byKey = new Map(offers.map((offer) => [offer.key, offer]));
  return past.map(({ key, spec }) => {
    const offer = byKey.get(key);
    if (offer) return spec ? { ...offer, spec } : offer;
    const name = spec?.name ?? key;
    const message = `The response was interrupted, and the tool \`${name}\` that it was offered is not there any more. Ask again.`;
    throw new Failure("conflict", message, { param: "tools" });
  });
}
