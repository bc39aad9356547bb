/** Every route of the server, in the order the docs list them. */

import type { OpenedResponses } from "../responses/api/open-responses.ts";
import type { RecordApi } from "../runtime/record/record-api.ts";
import type { Route } from "./route.ts";
import { createChatRoutes } from "./routes/chat-completions.ts";
import { CONTAINER_FILE_LIMITS, createContainerRoutes } from "./routes/containers.ts";
import { createConversationRoutes } from "./routes/conversations.ts";
import { createEmbeddingRoutes } from "./routes/embeddings.ts";
import { createFileRoutes, FILE_LIMITS } from "./routes/files.ts";
import { createMessageRoutes } from "./routes/messages.ts";
import { createContextRoutes, createResponseRoutes } from "./routes/responses.ts";
import { createRunControlRoutes } from "./routes/run-control.ts";
import { createRunDetailRoutes } from "./routes/run-details.ts";
import { createRunRoutes } from "./routes/runs.ts";
import { createSessionRoutes } from "./routes/sessions.ts";
import { createStoredChatRoutes } from "./routes/stored-chats.ts";
import { createVectorStoreRoutes } from "./routes/vector-stores.ts";

/** Routes that read the record of all runs, including those of other callers. */
export function createRecordRoutes(record: RecordApi): Route[] {
  return [
    ...createRunRoutes(record),
    ...createRunDetailRoutes(record),
    ...createRunControlRoutes(record),
    ...createSessionRoutes(record),
  ];
}

export function createRoutes({
  api,
  context,
  conversations,
  chats,
  upstreamOf,
  embeddings,
  search,
  kept,
  sealKey,
}: OpenedResponses): Route[] {
  const { vectors, forgetFile } = search;
  return [
    ...createResponseRoutes(api),
    ...createContextRoutes(context),
    ...createConversationRoutes(conversations),
    ...createChatRoutes(api, chats),
    ...createStoredChatRoutes(chats),
    ...createMessageRoutes({ api, context, upstreamOf }),
    ...createEmbeddingRoutes(embeddings),
    ...createFileRoutes({ ...vectors, sealKey, limits: FILE_LIMITS, forget: forgetFile }),
    ...createVectorStoreRoutes({ ...vectors, sealKey }),
    ...createContainerRoutes({ ...kept, limits: CONTAINER_FILE_LIMITS }),
  ];
}
