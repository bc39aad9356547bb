/**
 * The Messages wire at Google Cloud: the model is in the path and not in the body, and the version is in
 * the body and not in a header. Project and region are part of the base URL (`google-cloud.ts`).
 */

import type { JsonObject } from "../../base/json.ts";
import { toPathSegment } from "../path-segment.ts";
import type { Wire } from "../wire.ts";
import { encodeRequest } from "./encode.ts";
import { OPTIONS } from "./options.ts";
import { betasFor, messagesWire } from "./wire.ts";

const VERSION = "vertex-2023-10-16";

export const vertexWire: Wire = {
  ...messagesWire,
  name: "vertexai-anthropic",
  // Tiers exist only for Anthropic's own accounts.
  options: new Set([...OPTIONS].filter((name) => name !== "service_tier")),
  path: ({ model }) => `/publishers/anthropic/models/${toSegment(model)}:streamRawPredict`,
  headers(request, quirks): Record<string, string> {
    const betas = betasFor(request, quirks);
    return betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {};
  },
  encode(request, quirks): JsonObject {
    const { model: _, ...body } = encodeRequest(request, quirks);
    return { anthropic_version: VERSION, ...body };
  },
};

/** Leaves the `@` before a model's date unescaped, like Google's own examples. */
function toSegment(model: string): string {
  return toPathSegment(model).replace("%40", "@");
}
