/** Requests to an images API and its answers, as OpenAI and compatible servers spell them. */

import type { Usage } from "./usage.ts";

/** The fields that both endpoints accept. The server chooses a field that is not set. */
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
  /** How many partial pictures are sent while it is drawn; 0 to 3. */
  readonly partial_images?: number | undefined;
  /** The pictures to change; if there are any, the request is an edit. */
  readonly images?: readonly ImageRef[] | undefined;
  readonly mask?: ImageRef | undefined;
  readonly input_fidelity?: string | undefined;
}

export interface ImageRef {
  /** A URL, or a data URL. */
  readonly image_url: string;
}

/** A picture, finished or partial. */
export interface MadeImage {
  /** Base64. */
  readonly b64_json: string;
  /** The usage that the server counted for it, if it says so. */
  readonly usage?: Usage | undefined;
  readonly revised_prompt?: string | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
  readonly output_format?: string | undefined;
}
