/** Fields that many kinds of items share. */

import { z } from "zod";
import { open, openEnum, openUnion } from "./open.ts";

/** What any item may carry. A vendor gives the id; an item made by a client may have none. */
export const itemFields = {
  id: z.string().nullable().optional(),
  /** Which of several agents said it: `/root`, `/root/research`. */
  agent: open({ agent_name: z.string() }).nullable().optional(),
  created_by: z.string().optional(),
};

const Caller = openUnion([
  open({ type: z.literal("direct") }),
  open({ type: z.literal("program"), caller_id: z.string() }),
]);

/** What every call carries, and its output to be paired with it. */
export const callFields = {
  ...itemFields,
  call_id: z.string(),
  /** Whether the model made the call itself or a program it wrote did. */
  caller: Caller.nullable().optional(),
};

export const ItemStatus = openEnum(["in_progress", "completed", "incomplete"]);
export type ItemStatus = z.infer<typeof ItemStatus>;

/** Most items may leave their status out, and some servers write `null`. */
export const itemStatus = ItemStatus.nullable().optional();
