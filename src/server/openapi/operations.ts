/** The parameters and answers of each route, by its name. A test checks that no route is missing here. */

import { RUN_FILTERS } from "../../runtime/record/run-query.ts";
import { CONSOLE_PATHS } from "../console/shell.ts";
import type { SchemaName } from "./schemas.ts";

export interface Operation {
  /** The schema of its JSON body. */
  readonly takes?: SchemaName;
  /** True if the body may be left out. */
  readonly isOptional?: true;
  /** Fields of a form besides its `file`. */
  readonly form?: SchemaName;
  /** The schema of its JSON answer. Left out if the answer is bytes. */
  readonly gives?: SchemaName;
  /** One line on the server-sent events of its answer, for requests that ask for a stream. */
  readonly streams?: string;
  readonly query?: readonly QueryName[];
  readonly headers?: readonly "Idempotency-Key"[];
}

/** The description of each query parameter, one line each. */
export const QUERIES = {
  ...RUN_FILTERS,
  limit: "How many, 1 to 100; 20 if left out",
  order: "`asc` or `desc`, by when they were made",
  after: "The id after which the page begins",
  before: "The id before which the page ends",
  include: "What else to show, as a list",
  stream: "`true` for the events of the response",
  starting_after: "The number of the event after which to begin",
  purpose: "Only files of this purpose",
  filter: "Only files in this state",
  name: "Only containers of this name",
  model: "Only those that this model answered",
  metadata: "Only those with these pairs: `metadata[KEY]=VALUE`",
  run: "Only of this run and those below it",
  by: "`model`, `agent`, `key`, `tenant` or `root` (the run that a person started)",
  daily: "`false` to add up all days",
  types: "Only events of these types, with commas between them",
  max_chars: "Characters of one event at most, 256 to 65536",
  tree: "`true` for all runs below it too, from their beginnings; `live` for those from the present on",
  format: "`md` or `jsonl`",
  tool: "Only calls of this tool",
  with: "The id of the other run",
  wait: "Seconds that a call waits for its run before it answers that the run continues",
  path: "Where in the event, as a JSON Pointer: `/item/output`",
} as const;
export type QueryName = keyof typeof QUERIES;

const PAGE = ["limit", "order", "after", "before"] as const;
const EVENTS = "Events of the Responses API (`ResponseEvent`), one for each frame, then `[DONE]`";
const ONCE = { headers: ["Idempotency-Key"] } as const;

const FILTERS = Object.keys(RUN_FILTERS) as (keyof typeof RUN_FILTERS)[];
const RUN = "/v1/runs/:id";
const STORE = "/v1/vector_stores/:id";
const CONVERSATION = "/v1/conversations/:id";
const CONTAINER = "/v1/containers/:id";
const CHAT = "/v1/chat/completions/:id";

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  "POST /v1/responses": { takes: "CreateResponse", gives: "Response", streams: EVENTS, ...ONCE },
  "GET /v1/responses/:id": {
    gives: "Response",
    streams: EVENTS,
    query: ["stream", "starting_after", "include"],
  },
  "DELETE /v1/responses/:id": { gives: "DeletedResponse" },
  "POST /v1/responses/:id/cancel": {
    takes: "CancelResponse",
    isOptional: true,
    gives: "Response",
  },
  "POST /v1/responses/:id/steer": { takes: "SteerResponse", gives: "SteeredResponse" },
  "GET /v1/responses/:id/input_items": { gives: "StoredItemList", query: [...PAGE, "include"] },
  "POST /v1/responses/compact": { takes: "CreateResponse", gives: "CompactedResponse" },
  "POST /v1/responses/input_tokens": { takes: "CreateResponse", gives: "InputTokens" },
  "POST /v1/conversations": {
    takes: "CreateConversation",
    isOptional: true,
    gives: "Conversation",
    ...ONCE,
  },
  [`GET ${CONVERSATION}`]: { gives: "Conversation" },
  [`POST ${CONVERSATION}`]: { takes: "UpdateConversation", gives: "Conversation" },
  [`DELETE ${CONVERSATION}`]: { gives: "DeletedConversation" },
  [`POST ${CONVERSATION}/items`]: { takes: "NewItems", gives: "StoredItemList" },
  [`GET ${CONVERSATION}/items`]: { gives: "StoredItemList", query: [...PAGE, "include"] },
  [`GET ${CONVERSATION}/items/:item_id`]: { gives: "StoredItem", query: ["include"] },
  [`DELETE ${CONVERSATION}/items/:item_id`]: { gives: "Conversation" },
  "POST /v1/chat/completions": {
    takes: "ChatRequest",
    gives: "ChatCompletion",
    streams: "Chunks of a chat completion, one for each frame, then `[DONE]`",
    ...ONCE,
  },
  "GET /v1/chat/completions": {
    gives: "ChatCompletionList",
    query: ["limit", "order", "after", "model", "metadata"],
  },
  [`GET ${CHAT}`]: { gives: "ChatCompletion" },
  [`GET ${CHAT}/messages`]: { gives: "StoredMessageList", query: ["limit", "order", "after"] },
  [`POST ${CHAT}`]: { takes: "UpdateChat", gives: "ChatCompletion" },
  [`DELETE ${CHAT}`]: { gives: "DeletedChatCompletion" },
  "POST /v1/messages": {
    takes: "MessagesRequest",
    gives: "Message",
    streams: "Events of the Messages API, from `message_start` to `message_stop`",
  },
  "POST /v1/messages/count_tokens": { takes: "MessagesRequest", gives: "MessageTokens" },
  "POST /v1/embeddings": { takes: "CreateEmbeddings", gives: "Embeddings" },
  "POST /v1/files": { form: "NewFileFields", gives: "StoredFile", ...ONCE },
  "GET /v1/files": { gives: "StoredFileList", query: [...PAGE, "purpose"] },
  "GET /v1/files/:id": { gives: "StoredFile" },
  "DELETE /v1/files/:id": { gives: "DeletedFile" },
  "GET /v1/files/:id/content": {},
  "POST /v1/vector_stores": {
    takes: "CreateStore",
    isOptional: true,
    gives: "VectorStore",
    ...ONCE,
  },
  "GET /v1/vector_stores": { gives: "VectorStoreList", query: PAGE },
  [`GET ${STORE}`]: { gives: "VectorStore" },
  [`POST ${STORE}`]: { takes: "UpdateStore", isOptional: true, gives: "VectorStore" },
  [`DELETE ${STORE}`]: { gives: "DeletedVectorStore" },
  [`POST ${STORE}/search`]: { takes: "SearchRequest", gives: "VectorStoreSearch" },
  [`POST ${STORE}/files`]: { takes: "NewStoreFile", gives: "VectorStoreFile" },
  [`GET ${STORE}/files`]: { gives: "VectorStoreFileList", query: [...PAGE, "filter"] },
  [`GET ${STORE}/files/:file_id`]: { gives: "VectorStoreFile" },
  [`POST ${STORE}/files/:file_id`]: { takes: "UpdateStoreFile", gives: "VectorStoreFile" },
  [`DELETE ${STORE}/files/:file_id`]: { gives: "DeletedVectorStoreFile" },
  [`GET ${STORE}/files/:file_id/content`]: { gives: "VectorStoreFileContent" },
  [`POST ${STORE}/file_batches`]: { takes: "CreateBatch", gives: "VectorStoreBatch" },
  [`GET ${STORE}/file_batches/:batch_id`]: { gives: "VectorStoreBatch" },
  [`POST ${STORE}/file_batches/:batch_id/cancel`]: { gives: "VectorStoreBatch" },
  [`GET ${STORE}/file_batches/:batch_id/files`]: {
    gives: "VectorStoreFileList",
    query: [...PAGE, "filter"],
  },
  "POST /v1/containers": { takes: "NewContainerBody", gives: "Container" },
  "GET /v1/containers": { gives: "ContainerList", query: [...PAGE, "name"] },
  [`GET ${CONTAINER}`]: { gives: "Container" },
  [`DELETE ${CONTAINER}`]: { gives: "DeletedContainer" },
  [`POST ${CONTAINER}/files`]: { form: "NewContainerFile", gives: "ContainerFile" },
  [`GET ${CONTAINER}/files`]: { gives: "ContainerFileList", query: PAGE },
  [`GET ${CONTAINER}/files/:file`]: { gives: "ContainerFile" },
  [`DELETE ${CONTAINER}/files/:file`]: { gives: "DeletedContainerFile" },
  [`GET ${CONTAINER}/files/:file/content`]: {},
  "GET /v1/runs": { gives: "RunList", query: ["limit", "after", ...FILTERS] },
  [`GET ${RUN}`]: { gives: "Run" },
  [`GET ${RUN}/tree`]: { gives: "RunTree", query: ["after"] },
  [`GET ${RUN}/compare`]: { gives: "RunComparison", query: ["with"] },
  [`GET ${RUN}/events`]: {
    gives: "RunEventList",
    query: ["limit", "after", "types", "max_chars"],
  },
  [`GET ${RUN}/events/:seq`]: { gives: "RunText", query: ["path", "from"] },
  [`GET ${RUN}/follow`]: {
    streams: "Events of runs (`RunFrame`), one frame for each batch of a run, then `[DONE]`",
    query: ["after", "tree", "types", "max_chars"],
  },
  [`GET ${RUN}/steps/:seq`]: { gives: "RunStep", query: ["path", "from"] },
  [`GET ${RUN}/changes`]: { gives: "FileChangeList", query: ["limit", "after"] },
  [`GET ${RUN}/usage`]: { gives: "Usage", query: ["by"] },
  [`GET ${RUN}/export`]: { query: ["format"] },
  [`POST ${RUN}/cancel`]: { gives: "Run" },
  [`POST ${RUN}/steer`]: { takes: "SteerRun", gives: "SteeredRun" },
  [`POST ${RUN}/resume`]: { gives: "Run" },
  [`POST ${RUN}/replay`]: { takes: "ReplayRun", isOptional: true, gives: "RunReplay" },
  [`POST ${RUN}/fork`]: { takes: "ForkRun", isOptional: true, gives: "Session" },
  [`GET ${RUN}/questions/:question`]: { gives: "Question" },
  [`POST ${RUN}/answer`]: { takes: "AnswerQuestion", gives: "RunAnswer" },
  "GET /v1/approvals": { gives: "QuestionList", query: ["limit", "after", "run", "tenant"] },
  "GET /v1/usage": { gives: "Usage", query: ["by", "daily", "from", "to", "tenant"] },
  "GET /v1/usage/tools": { gives: "ToolUsage", query: ["from", "to", "tenant"] },
  "GET /v1/usage/failures": {
    gives: "FailedCallList",
    query: ["limit", "after", "from", "to", "status", "tool", "tenant"],
  },
  "GET /v1/watch": {
    streams: "A frame (`WatchFrame`) at once, and one for each change",
    query: ["tenant"],
  },
  "GET /v1/sessions": { gives: "SessionList", query: ["limit", "after", "folder", "search"] },
  "GET /v1/sessions/:id": { gives: "SessionDetail" },
  "POST /v1/console/sessions": { takes: "NewConsoleSession", gives: "ConsoleSession" },
  "GET /v1/console/session": { gives: "ConsoleSession" },
  "DELETE /v1/console/session": { gives: "DeletedConsoleSession" },
  "POST /v1/console/codes": { gives: "ConsoleCode" },
  ...Object.fromEntries(CONSOLE_PATHS.map((path) => [`GET ${path}`, {}])),
  "GET /v1/admin/keys": { gives: "KeyList" },
  "POST /v1/admin/keys": { takes: "NewKey", gives: "ServerKey" },
  "POST /v1/admin/keys/:id": { takes: "ChangeKey", gives: "ServerKey" },
  "POST /v1/admin/keys/:id/rotate": {
    takes: "RotateKey",
    isOptional: true,
    gives: "ServerKey",
  },
  "DELETE /v1/admin/keys/:id": { gives: "ServerKey" },
  "GET /v1/admin/tenants": { gives: "TenantList" },
  "GET /v1/admin/audit": {
    gives: "AuditList",
    query: ["limit", "after", "key", "tenant", "status", "search"],
  },
  "GET /v1/admin/models": { gives: "ServedModels" },
  "GET /v1/admin/system": { gives: "System" },
  "GET /v1/admin/settings": { gives: "SettingList" },
  "GET /v1/admin/doctor": { gives: "CheckList" },
  "GET /v1/tools": { gives: "OwnToolList" },
  "GET /v1/models": { gives: "ModelList" },
  "GET /v1/models/:id": { gives: "Model" },
  "GET /v1/models/:vendor/:id": { gives: "Model" },
  // The messages of this route are those of the MCP protocol, which has its own description.
  "POST /mcp": { query: ["wait"] },
  "GET /": { gives: "Status" },
  "GET /healthz": { gives: "Status" },
  "GET /readyz": { gives: "Status" },
  "GET /metrics": {},
  "GET /openapi.json": {},
};
