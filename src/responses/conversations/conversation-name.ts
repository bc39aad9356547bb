/**
 * The names of a conversation and its parts on the shelf. Imports nothing: every run of the command line loads it.
 */

import type { ThingName } from "../../store/shelf.ts";

export const CONVERSATION_KIND = "conversation";

export function nameConversation(tenant: string, id: string): ThingName {
  return { tenant, kind: CONVERSATION_KIND, id };
}
