/** What the stream events of a response have in common, and how one is declared. */

import { z } from "zod";
import { open } from "./open.ts";

/** Where in the answer an event belongs. Some servers leave the number of the item out. */
export const place = { item_id: z.string(), output_index: z.number().optional() };

/** One shape of event, under one or several names. Not every server numbers its events. */
export function event<const Name extends string, Shape extends z.ZodRawShape>(
  names: readonly Name[],
  shape: Shape,
): z.ZodObject<Shape & typeof common & { type: z.ZodLiteral<Name> }> {
  return open({ type: z.literal(names), ...common, ...shape });
}

const common = {
  /** From 0, without gaps, where a server gives it. */
  sequence_number: z.number().optional(),
  /** Which of several agents it is about. */
  agent: open({ agent_name: z.string() }).nullable().optional(),
};
