/** The fields that all stream events of a response share, and how an event is declared. */

import { z } from "zod";
import { open } from "./open.ts";

/** The position of an event in the answer. Some servers leave out the number of the item. */
export const place = { item_id: z.string(), output_index: z.number().optional() };

/** One shape of event, under one or several names. Not every server numbers its events. */
export function event<const Name extends string, Shape extends z.ZodRawShape>(
  names: readonly Name[],
  shape: Shape,
): z.ZodObject<Shape & typeof common & { type: z.ZodLiteral<Name> }> {
  return open({ type: z.literal(names), ...common, ...shape });
}

const common = {
  /** From 0, without gaps, if a server numbers its events. */
  sequence_number: z.number().optional(),
  /** The agent of a team that the event is about. */
  agent: open({ agent_name: z.string() }).nullable().optional(),
};
