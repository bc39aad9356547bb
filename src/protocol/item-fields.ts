/** Fields that many kinds of items share. */

import { z } from "zod";
import { open, openEnum, openUnion } from "./open.ts";

/** Fields that any item may have. A vendor gives the id; an item made by a client may have none. */
export const itemFields = {
  id: z.string().nullable().optional(),
  /** The agent that said it: `/root`, `/root/research`. */
  agent: open({ agent_name: z.string() }).nullable().optional(),
  created_by: z.string().optional(),
};

const Caller = openUnion([
  open({ type: z.literal("direct") }),
  open({ type: z.literal("program"), caller_id: z.string() }),
]);

/** Fields that every call has, and its output too, so that they can be paired. */
export const callFields = {
  ...itemFields,
  call_id: z.string(),
  /** Who made the call: the model itself, or a program that it wrote. */
  caller: Caller.nullable().optional(),
};

export const ItemStatus = openEnum(["in_progress", "completed", "incomplete"]);
export type ItemStatus = z.infer<typeof ItemStatus>;

/** Most items may leave their status out, and some servers write `null`. */
export const itemStatus = ItemStatus.nullable().optional();
