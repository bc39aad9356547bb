/** `web_search`: what the web says, by a search or from a page; and `web_fetch`, which only opens pages. */

import { z } from "zod";
import { itemFields } from "../item-fields.ts";
import { JsonObject, open, openEnum } from "../open.ts";
import { type HostedKind, toProgress } from "./hosted-kind.ts";

const search = {
  search_context_size: openEnum(["low", "medium", "high"]).nullable().optional(),
  user_location: open({
    type: openEnum(["approximate"]).optional(),
    city: z.string().nullable().optional(),
    region: z.string().nullable().optional(),
    country: z.string().nullable().optional(),
    timezone: z.string().nullable().optional(),
  })
    .nullable()
    .optional(),
};

export const WebSearchTool = open({
  type: z.literal(["web_search", "web_search_2025_08_26"]),
  external_web_access: z.boolean().nullable().optional(),
  filters: open({ allowed_domains: z.array(z.string()).nullable().optional() })
    .nullable()
    .optional(),
  ...search,
});
export type WebSearchTool = z.infer<typeof WebSearchTool>;

export const WebSearchPreviewTool = open({
  type: z.literal(["web_search_preview", "web_search_preview_2025_03_11"]),
  search_content_types: z.array(openEnum(["text", "image"])).optional(),
  ...search,
});
export type WebSearchPreviewTool = z.infer<typeof WebSearchPreviewTool>;

export const WebSearchCall = open({
  type: z.literal("web_search_call"),
  ...itemFields,
  status: openEnum(["in_progress", "searching", "completed", "failed"]).optional(),
  /** `search`, `open_page` or `find_in_page`, with its own fields. */
  action: open({
    type: openEnum(["search", "open_page", "find_in_page"]),
    query: z.string().nullable().optional(),
    queries: z.array(z.string()).nullable().optional(),
    sources: z.array(JsonObject).nullable().optional(),
    url: z.string().nullable().optional(),
    pattern: z.string().nullable().optional(),
  })
    .nullable()
    .optional(),
});
export type WebSearchCall = z.infer<typeof WebSearchCall>;

export const WEB_SEARCH = {
  name: "web_search",
  tools: [WebSearchTool, WebSearchPreviewTool],
  spellings:
    /^(web_search(_preview)?(_\d{4}_\d{2}_\d{2}|_\d{8})?|google_search|googleSearch|browser_search|nova_grounding)$/,
  runs: "server",
  choices: [
    ...(["web_search", "web_search_2025_08_26"] as const),
    ...(["web_search_preview", "web_search_preview_2025_03_11"] as const),
  ],
  items: {
    web_search_call: {
      idPrefix: "ws",
      // The API has no `incomplete` for it, and some vendors' items have no status at all.
      cut: "failed",
      always: { status: "completed" },
      answeredBy: undefined,
      optional: { results: "left out", "action.sources": "left out" },
      progress: toProgress("web_search_call", "searching"),
      writes: undefined,
    },
  },
  itemSchemas: [WebSearchCall],
  events: [],
} as const satisfies HostedKind;

/** Its tool has no published schema; its calls are `web_search_call`s. */
export const WEB_FETCH = {
  name: "web_fetch",
  tools: [],
  spellings: /^(web_fetch_\d{8}|url_context|urlContext)$/,
  runs: "server",
  choices: [],
  items: {},
  itemSchemas: [],
  events: [],
} as const satisfies HostedKind;
