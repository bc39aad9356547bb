/**
 * The parts of a message, a tool's output or a reasoning item.
 *
 * Fields that only one of the documents of the API promises are optional here: parsing accepts every
 * dialect, and `emitted.ts` says what we send.
 */

import { z } from "zod";
import { open, openEnum, openUnion, typesOf } from "./open.ts";

/** Marks the end of a prefix that the vendor should cache. */
const cacheBreakpoint = open({ mode: openEnum(["explicit"]) })
  .nullable()
  .optional();

export const InputText = open({
  type: z.literal("input_text"),
  text: z.string(),
  prompt_cache_breakpoint: cacheBreakpoint,
});
export type InputText = z.infer<typeof InputText>;

export const InputImage = open({
  type: z.literal("input_image"),
  /** A URL, or the image itself as a `data:` URL. */
  image_url: z.string().nullable().optional(),
  file_id: z.string().nullable().optional(),
  detail: openEnum(["auto", "low", "high", "original"]).nullable().optional(),
  prompt_cache_breakpoint: cacheBreakpoint,
});
export type InputImage = z.infer<typeof InputImage>;

const audioFormat = openEnum(["wav", "mp3", "flac", "webm", "ogg"]);

/** Audio. Base64 and format are in the part itself, or one level down as in the published API. */
export const InputAudio = open({
  type: z.literal("input_audio"),
  data: z.string().optional(),
  format: audioFormat.optional(),
  input_audio: open({ data: z.string(), format: audioFormat }).optional(),
});
export type InputAudio = z.infer<typeof InputAudio>;

export const InputFile = open({
  type: z.literal("input_file"),
  file_id: z.string().nullable().optional(),
  filename: z.string().nullable().optional(),
  /** Base64, bare or as a `data:` URL. */
  file_data: z.string().nullable().optional(),
  file_url: z.string().nullable().optional(),
  detail: openEnum(["auto", "low", "high"]).nullable().optional(),
  prompt_cache_breakpoint: cacheBreakpoint,
});
export type InputFile = z.infer<typeof InputFile>;

const span = { start_index: z.number().optional(), end_index: z.number().optional() };

export const UrlCitation = open({
  type: z.literal("url_citation"),
  url: z.string(),
  title: z.string().nullable().optional(),
  ...span,
});
export type UrlCitation = z.infer<typeof UrlCitation>;

export const FileCitation = open({
  type: z.literal("file_citation"),
  file_id: z.string(),
  filename: z.string().nullable().optional(),
  index: z.number().optional(),
  quote: z.string().nullable().optional(),
  ...span,
});
export type FileCitation = z.infer<typeof FileCitation>;

export const ContainerFileCitation = open({
  type: z.literal("container_file_citation"),
  container_id: z.string(),
  file_id: z.string(),
  filename: z.string().nullable().optional(),
  ...span,
});
export type ContainerFileCitation = z.infer<typeof ContainerFileCitation>;

export const FilePath = open({
  type: z.literal("file_path"),
  file_id: z.string(),
  index: z.number().optional(),
  ...span,
});
export type FilePath = z.infer<typeof FilePath>;

/** The source of a passage of the text. */
export const Annotation = openUnion([UrlCitation, FileCitation, ContainerFileCitation, FilePath]);
export type Annotation = z.infer<typeof Annotation>;

const token = {
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.number()).nullable().optional(),
};

export const Logprob = open({
  ...token,
  top_logprobs: z
    .array(open({ ...token, token: z.string().optional(), logprob: z.number().optional() }))
    .optional(),
});
export type Logprob = z.infer<typeof Logprob>;

export const OutputText = open({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(Annotation).optional(),
  logprobs: z.array(Logprob).nullable().optional(),
});
export type OutputText = z.infer<typeof OutputText>;

export const Refusal = open({ type: z.literal("refusal"), refusal: z.string() });
export type Refusal = z.infer<typeof Refusal>;

/** The model's own chain of thought. */
export const ReasoningText = open({ type: z.literal("reasoning_text"), text: z.string() });
export type ReasoningText = z.infer<typeof ReasoningText>;

/** A summary of the thinking, written for the reader. */
export const SummaryText = open({ type: z.literal("summary_text"), text: z.string() });
export type SummaryText = z.infer<typeof SummaryText>;

/** Text without a side, as conversations store it. */
export const PlainText = open({ type: z.literal("text"), text: z.string() });
export type PlainText = z.infer<typeof PlainText>;

export const OutputAudio = open({
  type: z.literal("output_audio"),
  data: z.string(),
  transcript: z.string().optional(),
});
export type OutputAudio = z.infer<typeof OutputAudio>;

export const ComputerScreenshot = open({
  type: z.literal("computer_screenshot"),
  image_url: z.string().nullable().optional(),
  file_id: z.string().nullable().optional(),
  detail: openEnum(["auto", "low", "high", "original"]).nullable().optional(),
  prompt_cache_breakpoint: cacheBreakpoint,
});
export type ComputerScreenshot = z.infer<typeof ComputerScreenshot>;

/** A message from one agent to another that only the vendor can read. */
export const EncryptedContent = open({
  type: z.literal("encrypted_content"),
  encrypted_content: z.string(),
});
export type EncryptedContent = z.infer<typeof EncryptedContent>;

/** A part of a kind we do not know. */
export const OpenPart = open({ type: z.string() });
export type OpenPart = z.infer<typeof OpenPart>;

const PART_KINDS = [
  InputText,
  InputImage,
  InputAudio,
  InputFile,
  OutputText,
  Refusal,
  ReasoningText,
  SummaryText,
  PlainText,
  OutputAudio,
  ComputerScreenshot,
  EncryptedContent,
] as const;

/** Every `type` that a `ContentPart` names; a part of another type is kept and passed on. */
export const PART_TYPES: readonly string[] = typesOf(PART_KINDS);

export const ContentPart = openUnion(PART_KINDS);
export type ContentPart = z.infer<typeof ContentPart>;
