/** The tool of `image_generation`: one call to an images API, with the request's settings. */

import type { Cost, Payer } from "../../agent/payer.ts";
import { Failure } from "../../base/failure.ts";
import { asJson } from "../../base/json.ts";
import type { ImageGenerationTool } from "../../protocol/hosted-kinds/image-generation.ts";
import type { ImageBody, ImageRef, MadeImage } from "../../protocol/images.ts";
import { toUsage, type Usage } from "../../protocol/usage.ts";
import { defineBuiltin, oneOf, text } from "../../tools/builtin-tool.ts";
import { type Tool, type ToolContext, ToolOutput } from "../../tools/tool.ts";

/** The server that draws. */
export interface ImagesApi {
  /** The host of the image server, which the run must be allowed to reach. */
  readonly host: string;
  make(body: ImageBody, asking: ImageAsking): Promise<MadeImage>;
  /** In US dollars; undefined, or left out, if the price is not known. */
  costOf?(usage: Usage): number | undefined;
}

interface ImageAsking {
  readonly signal: AbortSignal;
  onPartial(image: MadeImage, index: number): Promise<void>;
}

export interface ImageInputs {
  /** The conversation's pictures, the latest last. Read by the first call that changes one. */
  readImages(): Promise<readonly ImageRef[]>;
  readMask(): Promise<ImageRef | undefined>;
  /** The payer of a call, by its idempotency key. */
  readonly payerOf?: ((idempotencyKey: string) => Payer) | undefined;
}

const LIMIT_MS = 360_000;

/** The API's own limit. */
export const MAX_IMAGES = 16;

export function createImageTool(
  api: ImagesApi,
  settings: ImageGenerationTool,
  inputs: ImageInputs,
): Tool {
  const made: ImageRef[] = [];
  return defineBuiltin({
    name: "image_generation",
    description:
      "Draws a picture and shows it to the user. With the action `edit` it changes the pictures of this conversation instead.",
    parameters: {
      prompt: text("What the picture shows, in every detail that matters.", { minLength: 1 }),
      action: oneOf("`generate` draws a new picture, `edit` changes an existing one.", [
        "generate",
        "edit",
      ]),
    },
    readOnly: false,
    effect: "network",
    timeoutMs: LIMIT_MS,
    targets: () => ({ hosts: [api.host] }),
    async run({ prompt, action }, context) {
      const isEdit =
        settings.action === "edit" || (settings.action !== "generate" && action === "edit");
      const edited = isEdit ? await toEdited(inputs, made, settings) : {};
      const body = { ...toBody(settings), prompt, ...edited };
      const asking = { signal: context.signal, onPartial: tellOf(context) };
      const payer = inputs.payerOf?.(context.idempotencyKey);
      const { usage: _, ...image } = await makePaid(api, { body, asking }, payer);
      const type = image.output_format ?? settings.output_format ?? "png";
      made.push({ image_url: `data:image/${type};base64,${image.b64_json}` });
      const { b64_json: result, ...about } = image;
      const details = asJson({ ...about, result });
      return new ToolOutput("The picture was drawn and is shown to the user.", [], { details });
    },
  });
}

/** A large picture of the best quality; tokens that were not used are returned. */
const MOST_TOKENS = 8000;
const CHARS_PER_TOKEN = 3;

interface ImageOrder {
  readonly body: ImageBody;
  readonly asking: ImageAsking;
}

/** If a server does not count, the words of the prompt are booked. */
async function makePaid(
  api: ImagesApi,
  { body, asking }: ImageOrder,
  payer: Payer | undefined,
): Promise<MadeImage> {
  if (!payer) return await api.make(body, asking);
  const input = Math.ceil(body.prompt.length / CHARS_PER_TOKEN);
  const toCost = (usage: Usage): Cost => {
    return { tokens: usage.total_tokens, usd: api.costOf?.(usage) };
  };
  return await payer.pay(toCost(toUsage({ input, output: MOST_TOKENS })), async (used) => {
    const image = await api.make(body, asking);
    used(toCost(image.usage ?? toUsage({ input })));
    return image;
  });
}

const SETTINGS = [
  ...["model", "size", "quality", "background", "moderation"],
  ...["output_format", "output_compression", "partial_images"],
] as const;

/** The settings of the request. */
function toBody(settings: ImageGenerationTool): Partial<ImageBody> {
  const given = Object.entries(settings).filter(([name, value]) => {
    return (SETTINGS as readonly string[]).includes(name) && value !== null && value !== undefined;
  });
  return Object.fromEntries(given);
}

async function toEdited(
  inputs: ImageInputs,
  made: readonly ImageRef[],
  { input_fidelity }: ImageGenerationTool,
): Promise<Pick<ImageBody, "images" | "mask" | "input_fidelity">> {
  const images = [...(await inputs.readImages()), ...made].slice(-MAX_IMAGES);
  if (images.length === 0) {
    throw new Failure(
      "invalid_request",
      "There is no picture to change: use the action `generate`.",
    );
  }
  const mask = await inputs.readMask();
  return { images, ...(mask && { mask }), ...(input_fidelity && { input_fidelity }) };
}

function tellOf(context: ToolContext): ImageAsking["onPartial"] {
  return async ({ b64_json, revised_prompt: _, usage: _usage, ...about }, partial_image_index) => {
    const type = "response.image_generation_call.partial_image";
    await context.tell({ type, partial_image_index, partial_image_b64: b64_json, ...about });
  };
}
