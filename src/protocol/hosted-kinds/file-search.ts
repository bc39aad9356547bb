/** `file_search`: what the documents of vector stores say. */

import { z } from "zod";
import { itemFields } from "../item-fields.ts";
import { JsonObject, open, openEnum } from "../open.ts";
import { type HostedKind, toProgress } from "./hosted-kind.ts";

export const FileSearchTool = open({
  type: z.literal("file_search"),
  vector_store_ids: z.array(z.string()),
  max_num_results: z.number().nullable().optional(),
  ranking_options: open({
    ranker: openEnum(["auto", "default-2024-11-15", "default_2024_08_21"]).optional(),
    score_threshold: z.number().optional(),
    hybrid_search: open({ embedding_weight: z.number(), text_weight: z.number() })
      .nullable()
      .optional(),
  })
    .nullable()
    .optional(),
  /** Comparisons (`eq`, `lt`, `in`) and their `and` and `or`, nested to any depth. */
  filters: JsonObject.nullable().optional(),
});
export type FileSearchTool = z.infer<typeof FileSearchTool>;

export const FileSearchCall = open({
  type: z.literal("file_search_call"),
  ...itemFields,
  status: openEnum(["in_progress", "searching", "completed", "incomplete", "failed"]).optional(),
  queries: z.array(z.string()),
  results: z
    .array(
      open({
        file_id: z.string().optional(),
        filename: z.string().optional(),
        score: z.number().optional(),
        text: z.string().optional(),
        attributes: JsonObject.nullable().optional(),
      }),
    )
    .nullable()
    .optional(),
});
export type FileSearchCall = z.infer<typeof FileSearchCall>;

export const FILE_SEARCH = {
  name: "file_search",
  tools: [FileSearchTool],
  spellings: undefined,
  runs: "server",
  choices: ["file_search"],
  items: {
    file_search_call: {
      idPrefix: "fs",
      cut: "incomplete",
      always: { status: "completed", results: null },
      answeredBy: undefined,
      optional: { results: "null" },
      progress: toProgress("file_search_call", "searching"),
      writes: undefined,
    },
  },
  itemSchemas: [FileSearchCall],
  events: [],
} as const satisfies HostedKind;
