/** The operator's settings for responses. The runtime adds the available models. */

import type { Payer } from "../../agent/payer.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import type { EmbeddingsParts } from "../embeddings/embeddings-api.ts";
import type { SizeLimits } from "../request/check-size.ts";
import type { BackgroundLimits } from "../run/background-queue.ts";
import type { BodySettings } from "../run/open-body.ts";
import type { WebhookEndpoint } from "../webhooks/send-event.ts";

export interface ApiSettings extends BackgroundLimits, BodySettings {
  /** Turns texts into vectors. Without it, files are searched by their words only. */
  readonly embedder?: Embedder | undefined;
  /** True to store a response if the request does not say. */
  readonly store: boolean;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
  /** The folder in which the server's own tools work. */
  readonly root: string;
  /** Pays for a key's requests that are not responses. */
  readonly payerOf?: ((keyId: string) => Payer) | undefined;
  /** Called with the beginning and the end of responses that have no run. */
  readonly observeDirect?: ((logged: LoggedEvent) => void) | undefined;
  /** Called with the usage of each request for embeddings. */
  readonly observeEmbeddings?: EmbeddingsParts["observe"];
  /** The folder of the prompts that requests may name; without it there are none. */
  readonly promptsDir?: string | undefined;
  /** Limits on the size of one request. */
  readonly size?: SizeLimits | undefined;
  /** The endpoints that receive an event when a background response has ended. */
  readonly webhooks?: readonly WebhookEndpoint[] | undefined;
}
