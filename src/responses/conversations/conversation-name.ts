/** What a conversation and its parts are called on the shelf. Loads nothing: every run of the command line names one. */

import type { ThingName } from "../../store/shelf.ts";

export const CONVERSATION_KIND = "conversation";

export function nameConversation(tenant: string, id: string): ThingName {
  return { tenant, kind: CONVERSATION_KIND, id };
}
