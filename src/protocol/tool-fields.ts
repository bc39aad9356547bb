/** Fields that several kinds of tools share. */

import { z } from "zod";
import { JsonObject, openEnum } from "./open.ts";

/** Who may call a tool: the model itself, or a program that it wrote. */
export const allowedCallers = z
  .array(openEnum(["direct", "programmatic"]))
  .nullable()
  .optional();

/** How a container is made for a tool that needs one. */
export const container = {
  file_ids: z.array(z.string()).optional(),
  memory_limit: openEnum(["1g", "4g", "16g", "64g"]).nullable().optional(),
  network_policy: JsonObject.nullable().optional(),
};
