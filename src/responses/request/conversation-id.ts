/** The ids of conversations, in this server's form. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";

const PREFIX = "conv_";

/**
 * Rejects with `invalid_request` what cannot be the id of a conversation. `param` names the field.
 */
export function checkConversationId(id: string, param: string): void {
  if (id.startsWith(PREFIX)) return;
  const message = `\`${param}\` must be an id that begins with \`${PREFIX}\`, not \`${clip(id, 80)}\`.`;
  throw new Failure("invalid_request", message, { param });
}
