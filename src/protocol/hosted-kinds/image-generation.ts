/** `image_generation`: a picture that a model draws. */

import { z } from "zod";
import { event, place } from "../event-fields.ts";
import { itemFields } from "../item-fields.ts";
import { open, openEnum } from "../open.ts";
import { type HostedKind, toProgress } from "./hosted-kind.ts";

export const ImageGenerationTool = open({
  type: z.literal("image_generation"),
  model: z.string().nullable().optional(),
  background: openEnum(["transparent", "opaque", "auto"]).optional(),
  input_fidelity: openEnum(["high", "low"]).nullable().optional(),
  input_image_mask: open({ image_url: z.string().optional(), file_id: z.string().optional() })
    .nullable()
    .optional(),
  moderation: openEnum(["auto", "low"]).optional(),
  /** Percent. */
  output_compression: z.number().min(0).max(100).optional(),
  output_format: openEnum(["png", "jpeg", "webp"]).optional(),
  partial_images: z.number().min(0).max(3).optional(),
  quality: openEnum(["low", "medium", "high", "auto"]).optional(),
  size: openEnum(["1024x1024", "1536x1024", "1024x1536", "auto"]).optional(),
  action: openEnum(["generate", "edit", "auto"]).optional(),
});
export type ImageGenerationTool = z.infer<typeof ImageGenerationTool>;

export const ImageGenerationCall = open({
  type: z.literal("image_generation_call"),
  ...itemFields,
  /** Base64. */
  result: z.string().nullable().optional(),
  status: openEnum(["in_progress", "generating", "completed", "failed"]).optional(),
  revised_prompt: z.string().nullable().optional(),
});
export type ImageGenerationCall = z.infer<typeof ImageGenerationCall>;

export const ImagePartial = event(["response.image_generation_call.partial_image"], {
  ...place,
  partial_image_index: z.number().optional(),
  partial_image_b64: z.string(),
});
export type ImagePartial = z.infer<typeof ImagePartial>;

export const IMAGE_GENERATION = {
  name: "image_generation",
  tools: [ImageGenerationTool],
  spellings: undefined,
  runs: "server",
  choices: ["image_generation"],
  items: {
    image_generation_call: {
      idPrefix: "ig",
      // The API has no `incomplete` for it, and some vendors' items have no status at all.
      cut: "failed",
      always: { status: "completed", result: null },
      answeredBy: undefined,
      optional: {},
      progress: toProgress("image_generation_call", "generating"),
      writes: undefined,
      doneWith: "result",
    },
  },
  itemSchemas: [ImageGenerationCall],
  events: [ImagePartial],
} as const satisfies HostedKind;
