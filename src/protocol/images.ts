/** Requests to an images API and what it gives back, as OpenAI's and those like it spell them. */

import type { Usage } from "./usage.ts";

/** What both of its endpoints take. What is not set is the server's choice. */
export interface ImageBody {
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
  readonly moderation?: string | undefined;
  readonly output_format?: string | undefined;
  /** Percent. */
  readonly output_compression?: number | undefined;
  /** How many pictures are sent while it is drawn; 0 to 3. */
  readonly partial_images?: number | undefined;
  /** To change pictures, those to change; their presence makes it an edit. */
  readonly images?: readonly ImageRef[] | undefined;
  readonly mask?: ImageRef | undefined;
  readonly input_fidelity?: string | undefined;
}

export interface ImageRef {
  /** A URL, or a data URL. */
  readonly image_url: string;
}

/** A picture, or one on the way to it. */
export interface MadeImage {
  /** Base64. */
  readonly b64_json: string;
  /** What the server counted for it, where it says so. */
  readonly usage?: Usage | undefined;
  readonly revised_prompt?: string | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
  readonly output_format?: string | undefined;
}
