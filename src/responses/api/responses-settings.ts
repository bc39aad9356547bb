/** What an operator says of a server's responses. The runtime adds which models there are. */

import type { Payer } from "../../agent/payer.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import type { EmbeddingsParts } from "../embeddings/embeddings-api.ts";
import type { SizeLimits } from "../request/check-size.ts";
import type { BackgroundLimits } from "../run/background-queue.ts";
import type { BodySettings } from "../run/open-body.ts";
import type { WebhookEndpoint } from "../webhooks/send-event.ts";

export interface ApiSettings extends BackgroundLimits, BodySettings {
  /** What makes vectors of texts; without it files are searched by their words alone. */
  readonly embedder?: Embedder | undefined;
  /** Whether responses are kept where the request does not say. */
  readonly store: boolean;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
  /** The folder that the server's own tools work in. */
  readonly root: string;
  /** Who pays for what a key asks for outside of responses. */
  readonly payerOf?: ((keyId: string) => Payer) | undefined;
  /** Told of the beginning and the end of responses that need no run. */
  readonly observeDirect?: ((logged: LoggedEvent) => void) | undefined;
  /** Told what each request for embeddings has used. */
  readonly observeEmbeddings?: EmbeddingsParts["observe"];
  /** The folder of the prompts that requests may name; none without it. */
  readonly promptsDir?: string | undefined;
  /** How much one request may hold. */
  readonly size?: SizeLimits | undefined;
  /** Who is told when a response in the background has ended. */
  readonly webhooks?: readonly WebhookEndpoint[] | undefined;
}
