/**
 * Images, documents and sound in the form of Converse: the bytes themselves, or a location in S3. This
 * module fetches no URLs and keeps no files.
 */

import { Failure } from "../../base/failure.ts";
import type { InputAudio, InputFile, InputImage } from "../../protocol/content.ts";
import { isTextType, readDataUrl, typeOfName } from "../file-content.ts";
import type {
  AudioFormat,
  ContentBlock,
  ConverseSource,
  DocumentFormat,
  ImageFormat,
  MediaBlock,
  VideoFormat,
} from "./schema.ts";

const IMAGES: Readonly<Record<string, ImageFormat>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/jpg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

const DOCUMENTS: Readonly<Record<string, DocumentFormat>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md",
};
const VIDEOS: Readonly<Record<string, VideoFormat>> = {
  mkv: "mkv",
  mov: "mov",
  mp4: "mp4",
  webm: "webm",
  flv: "flv",
  mpeg: "mpeg",
  mpg: "mpg",
  wmv: "wmv",
  "3gp": "three_gp",
};
/** Types of video whose second half is not a file extension. */
const VIDEO_TYPES: Readonly<Record<string, VideoFormat>> = {
  "video/quicktime": "mov",
  "video/x-matroska": "mkv",
  "video/x-flv": "flv",
  "video/x-ms-wmv": "wmv",
  "video/3gpp": "three_gp",
};
const AUDIO: readonly AudioFormat[] = ["wav", "mp3", "flac", "webm", "ogg"];

export function encodeImage({ image_url }: Pick<InputImage, "image_url">): MediaBlock {
  if (!image_url) throw refused("images by data, not by file id");
  const { mediaType, source } = toSource(image_url, "images");
  const format = IMAGES[mediaType] ?? IMAGES[`image/${endingOf(image_url)}`];
  if (format) return { image: { format, source } };
  throw refused(`PNG, JPEG, GIF and WebP images, not \`${mediaType || "this kind"}\``);
}

/** A document. The model knows it by `name`, without the characters that Converse refuses in names. */
export function encodeDocument(
  { file_data, file_url, filename }: Pick<InputFile, "file_data" | "file_url" | "filename">,
  name: string,
): MediaBlock {
  const given = file_data ?? file_url;
  if (!given) throw refused("files by data, not by file id");
  const { mediaType, source } = toSource(given, "files");
  const video = videoOf(mediaType, filename ?? file_url ?? "");
  if (video) return { video: { format: video, source } };
  const named = typeOfName(filename ?? file_url ?? "") ?? "";
  const format =
    DOCUMENTS[mediaType] ??
    DOCUMENTS[named] ??
    // Source code is text, whatever its media type.
    (isTextType(mediaType) || isTextType(named) ? "txt" : undefined);
  if (format) return { document: { format, name, source } };
  const kinds = "PDF, Word, Excel, CSV, HTML, Markdown and text files";
  throw refused(`${kinds}, not \`${filename ?? (mediaType || "this kind")}\``);
}

export function encodeAudio({ input_audio, data, format }: InputAudio): ContentBlock {
  const given = input_audio?.format ?? format;
  const known = AUDIO.find((kind) => kind === given);
  const bytes = input_audio?.data ?? data;
  if (!bytes || !known) throw refused("WAV, MP3, FLAC, WebM and Ogg sound");
  return { audio: { format: known, source: { bytes } } };
}

/** The video format, from the type of the bytes or else from the name of the file. */
function videoOf(mediaType: string, name: string): VideoFormat | undefined {
  const [kind, ending = ""] = mediaType.split("/");
  if (kind === "video") return VIDEO_TYPES[mediaType] ?? VIDEOS[ending] ?? VIDEOS[endingOf(name)];
  return mediaType === "" ? VIDEOS[endingOf(name)] : undefined;
}

function endingOf(name: string): string {
  return /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
}

function toSource(given: string, what: string): { mediaType: string; source: ConverseSource } {
  const inline = readDataUrl(given);
  if (inline) return { mediaType: inline.mediaType, source: { bytes: inline.base64 } };
  if (given.startsWith("s3://")) return { mediaType: "", source: { s3Location: { uri: given } } };
  if (/^[a-z]+:\/\//i.test(given)) throw refused(`${what} by data or from S3, not by URL`);
  return { mediaType: "", source: { bytes: given } };
}

function refused(what: string): Failure {
  return new Failure("invalid_request", `Bedrock takes ${what}.`, { param: "input" });
}
