/** The server that draws pictures for `image_generation`, as the settings name it. */

import type { Environment } from "../base/environment.ts";
import { Failure } from "../base/failure.ts";
import { keyIn } from "../base/stored-keys.ts";
import type { ImagesApi } from "../responses/images/image-tool.ts";
import type { Network } from "./network.ts";

export interface ImagesSettings {
  readonly model: string;
  /** The API's base, `https://api.openai.com/v1`. */
  readonly url: string;
  /** The variable that holds the key; null for a server without one. */
  readonly api_key_name: string | null;
}

/** Rejects an invalid address. The key is read with each call: it may be set later. */
export function createImagesServer(
  { model, url, api_key_name }: ImagesSettings,
  network: Pick<Network, "open">,
  env: Environment,
): ImagesApi {
  if (!URL.canParse(url)) {
    throw new Failure("invalid_request", `\`${url}\` is not an address of an images API.`);
  }
  return {
    host: new URL(url).hostname.replace(/^\[|\]$/g, ""),
    async make(body, asking) {
      const key = api_key_name === null ? undefined : keyIn(env, api_key_name);
      if (api_key_name !== null && !key) {
        throw new Failure("key_missing", `The image server's key is missing: set ${api_key_name}.`);
      }
      const { makeImage } = await import("../providers/images/openai-images.ts");
      return await makeImage({ transport: await network.open(), url, model, key }, body, asking);
    },
  };
}
