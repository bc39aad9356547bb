/**
 * Schemas of the messages of a chat completions request, every role and every part. Parts named as in the Responses
 * API are accepted too: clients that use both APIs confuse them.
 */

import { z } from "zod";
import {
  type ContentPart,
  InputFile,
  InputImage,
  InputText,
  OutputText,
  Refusal,
} from "../../protocol/content.ts";
import { choose, JsonValue, open, openEnum, openUnion, textOr } from "../../protocol/open.ts";

const { prompt_cache_breakpoint } = InputText.shape;

const ChatText = open({ type: z.literal("text"), text: z.string(), prompt_cache_breakpoint });

/** Some clients send the address itself in place of the object that contains it. */
const ChatImage = open({
  type: z.literal("image_url"),
  image_url: textOr(open({ url: z.string(), detail: InputImage.shape.detail })),
  prompt_cache_breakpoint,
});

const ChatAudio = open({
  type: z.literal("input_audio"),
  input_audio: open({ data: z.string(), format: openEnum(["wav", "mp3"]) }),
});

const ChatFile = open({
  type: z.literal("file"),
  file: open({
    file_id: z.string().nullable().optional(),
    filename: z.string().nullable().optional(),
    file_data: z.string().nullable().optional(),
  }),
  prompt_cache_breakpoint,
});

export const ChatPart = openUnion([
  ChatText,
  ChatImage,
  ChatAudio,
  ChatFile,
  Refusal,
  InputText,
  InputImage,
  InputFile,
  OutputText,
]);
export type ChatPart = z.infer<typeof ChatPart>;

const content = textOr(z.array(ChatPart));
const name = z.string().nullable().optional();

const Spoken = open({ role: z.enum(["system", "developer", "user"]), content, name });

const NamedCall = open({ name: z.string(), arguments: z.string() });

const ChatFunctionCall = open({
  id: z.string(),
  type: openEnum(["function"]).nullable().optional(),
  function: NamedCall,
});

const ChatCustomCall = open({
  id: z.string(),
  type: z.literal("custom"),
  custom: open({ name: z.string(), input: z.string() }),
});

export type ChatCall = z.infer<typeof ChatFunctionCall> | z.infer<typeof ChatCustomCall>;
const ChatCall = choose<ChatCall>(
  (value) => (fieldOf(value, "type") === "custom" ? ChatCustomCall : ChatFunctionCall),
  { among: [ChatFunctionCall, ChatCustomCall] },
);

const Assistant = open({
  role: z.literal("assistant"),
  content: content.nullable().optional(),
  refusal: z.string().nullable().optional(),
  audio: open({ id: z.string() }).nullable().optional(),
  tool_calls: z.array(ChatCall).nullable().optional(),
  function_call: NamedCall.nullable().optional(),
  name,
  reasoning_content: z.string().nullable().optional(),
  /** Text on some servers, another type on others. */
  reasoning: JsonValue.optional(),
});
export type AssistantMessage = z.infer<typeof Assistant>;

const ToolResult = open({ role: z.literal("tool"), content, tool_call_id: z.string() });

const FunctionResult = open({
  role: z.literal("function"),
  content: z.string().nullable(),
  name: z.string(),
});

const ROLES: Readonly<Record<string, z.ZodType>> = {
  system: Spoken,
  developer: Spoken,
  user: Spoken,
  assistant: Assistant,
  tool: ToolResult,
  function: FunctionResult,
};

const AnyRole = open({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
});

export type SpokenMessage = z.infer<typeof Spoken>;
export type ToolMessage = z.infer<typeof ToolResult>;
export type FunctionMessage = z.infer<typeof FunctionResult>;
export type ChatMessage = SpokenMessage | AssistantMessage | ToolMessage | FunctionMessage;

export const ChatMessage = choose<ChatMessage>(
  (value) => {
    const role = fieldOf(value, "role");
    const known = typeof role === "string" && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
    return known ?? AnyRole;
  },
  { among: [Spoken, Assistant, ToolResult, FunctionResult] },
);

/** A part of a user's or a tool's message, in the form of the Responses API. */
export function toInputPart(part: ChatPart): ContentPart {
  switch (part.type) {
    case "text":
      return { ...part, type: "input_text" };
    case "image_url": {
      const { image_url, prompt_cache_breakpoint } = part;
      const image = typeof image_url === "string" ? { url: image_url } : image_url;
      const { url, detail } = image as { url: string; detail?: InputImage["detail"] };
      return {
        type: "input_image",
        image_url: url,
        detail: detail ?? "auto",
        ...(prompt_cache_breakpoint ? { prompt_cache_breakpoint } : {}),
      };
    }
    case "file": {
      const { type: _, file, ...rest } = part;
      return { type: "input_file", ...rest, ...file };
    }
    default:
      return part;
  }
}

/** A part of the assistant's message. */
export function toOutputPart(part: ChatPart): ContentPart {
  if (part.type !== "text" && part.type !== "input_text") return part as ContentPart;
  return { type: "output_text", text: part.text, annotations: [] };
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
