/**
 * Shapes of the server's answers other than responses, for the description of the API. The types of these objects are
 * where they are made; `test/server/openapi.test.ts` compares real answers with these shapes.
 */

import { z } from "zod";
import { open } from "../../protocol/open.ts";
import { Metadata } from "../../protocol/request.ts";

const id = z.string();
const seconds = z.int();

function deleted(object: string): z.ZodType {
  return open({ id, object: z.literal(object), deleted: z.literal(true) });
}

function page(of: z.ZodType): z.ZodType {
  return open({
    object: z.literal("list"),
    data: z.array(of),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.boolean(),
  });
}

const fileCounts = open({
  in_progress: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  total: z.int(),
});

const fileStatus = z.enum(["in_progress", "completed", "failed", "cancelled"]);
const texts = z.array(open({ type: z.literal("text"), text: z.string() }));

const ErrorAnswer = open({
  error: open({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});

const Model = open({ id, object: z.literal("model"), created: seconds, owned_by: z.string() });

const StoredItem = open({ id, type: z.string() });

const Conversation = open({
  id,
  object: z.literal("conversation"),
  created_at: seconds,
  metadata: Metadata,
});

const StoredFile = open({
  id,
  object: z.literal("file"),
  bytes: z.int(),
  created_at: seconds,
  expires_at: seconds.optional(),
  filename: z.string(),
  purpose: z.string(),
  status: z.literal("processed"),
});

const VectorStore = open({
  id,
  object: z.literal("vector_store"),
  created_at: seconds,
  name: z.string(),
  usage_bytes: z.int(),
  file_counts: fileCounts,
  metadata: Metadata,
  status: z.enum(["expired", "in_progress", "completed"]),
  expires_at: seconds.nullable(),
  last_active_at: seconds,
});

const VectorStoreFile = open({
  id,
  object: z.literal("vector_store.file"),
  usage_bytes: z.int(),
  created_at: seconds,
  vector_store_id: z.string(),
  status: fileStatus,
  last_error: open({ code: z.string(), message: z.string() }).nullable(),
  attributes: z.record(z.string(), z.unknown()),
});

const VectorStoreBatch = open({
  id,
  object: z.literal("vector_store.files_batch"),
  created_at: seconds,
  vector_store_id: z.string(),
  status: fileStatus,
  file_counts: fileCounts,
});

const Container = open({
  id,
  object: z.literal("container"),
  name: z.string(),
  created_at: seconds,
  status: z.literal("running"),
  last_active_at: seconds,
  memory_limit: z.string(),
});

const ContainerFile = open({
  id,
  object: z.literal("container.file"),
  container_id: z.string(),
  created_at: seconds,
  bytes: z.int(),
  path: z.string(),
  source: z.enum(["user", "assistant"]),
});

/** A message as it was sent; `content_parts` if its content was a list. */
const StoredMessage = open({
  id,
  role: z.string(),
  content: z.string().nullable(),
  content_parts: z.array(z.unknown()).nullable(),
});

const ChatCompletion = open({
  id,
  object: z.literal("chat.completion"),
  created: seconds,
  model: z.string(),
  choices: z.array(
    open({
      index: z.int(),
      message: open({ role: z.literal("assistant"), content: z.string().nullable() }),
      finish_reason: z.string(),
    }),
  ),
  usage: open({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
  }).optional(),
});

const Message = open({
  id,
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(open({ type: z.string() })),
  stop_reason: z.string().nullable(),
  stop_sequence: z.string().nullable(),
  usage: open({ input_tokens: z.int(), output_tokens: z.int() }),
});

const Embeddings = open({
  object: z.literal("list"),
  model: z.string(),
  data: z.array(
    open({
      object: z.literal("embedding"),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  usage: open({ prompt_tokens: z.int(), total_tokens: z.int() }),
});

/** The shapes by their names in the description. */
export const ANSWERS = {
  Error: ErrorAnswer,
  DeletedResponse: deleted("response.deleted"),
  SteeredResponse: open({
    id,
    object: z.literal("response.steered"),
    subagent: z.string().nullable(),
  }),
  CompactedResponse: open({
    id,
    object: z.literal("response.compaction"),
    created_at: seconds,
    output: z.array(StoredItem),
  }),
  InputTokens: open({
    object: z.literal("response.input_tokens"),
    input_tokens: z.int(),
  }),
  StoredItem,
  StoredItemList: page(StoredItem),
  Conversation,
  DeletedConversation: deleted("conversation.deleted"),
  ChatCompletion,
  ChatCompletionList: page(ChatCompletion),
  StoredMessageList: page(StoredMessage),
  DeletedChatCompletion: deleted("chat.completion.deleted"),
  Message,
  MessageTokens: open({ input_tokens: z.int() }),
  Embeddings,
  StoredFile,
  StoredFileList: page(StoredFile),
  DeletedFile: deleted("file"),
  VectorStore,
  VectorStoreList: page(VectorStore),
  DeletedVectorStore: deleted("vector_store.deleted"),
  VectorStoreFile,
  VectorStoreFileList: page(VectorStoreFile),
  DeletedVectorStoreFile: deleted("vector_store.file.deleted"),
  VectorStoreFileContent: open({
    object: z.literal("vector_store.file_content.page"),
    data: texts,
  }),
  VectorStoreSearch: open({
    object: z.literal("vector_store.search_results.page"),
    search_query: z.array(z.string()),
    data: z.array(
      open({
        file_id: z.string(),
        filename: z.string(),
        score: z.number(),
        content: texts,
      }),
    ),
  }),
  VectorStoreBatch,
  Container,
  ContainerList: page(Container),
  DeletedContainer: deleted("container.deleted"),
  ContainerFile,
  ContainerFileList: page(ContainerFile),
  DeletedContainerFile: deleted("container.file.deleted"),
  Model,
  ModelList: open({ object: z.literal("list"), data: z.array(Model) }),
  Status: open({ status: z.string(), reason: z.string().optional() }),
} as const;
