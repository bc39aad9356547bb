/**
 * Finds the media type of a file: by its first bytes if they tell, because a name can say anything, then by the name,
 * and at last by whether it is readable text.
 */

const UNKNOWN_TYPE = "application/octet-stream";

export function toMediaType(filename: string, bytes: Uint8Array): string {
  const extension = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? "";
  const named = Object.hasOwn(TYPES_BY_NAME, extension) ? TYPES_BY_NAME[extension] : undefined;
  return sniff(bytes) ?? named ?? (isText(bytes) ? "text/plain" : UNKNOWN_TYPE);
}

/**
 * Only types whose beginning is unique: office documents are ZIP files, and are distinguished by name.
 */
function sniff(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  for (const [start, type] of SIGNATURES) if (head.startsWith(start)) return type;
  if (!head.startsWith("RIFF")) return undefined;
  return { WEBP: "image/webp", WAVE: "audio/wav" }[head.slice(8)];
}

const SIGNATURES: readonly (readonly [string, string])[] = [
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"],
  ["%PDF-", "application/pdf"],
  ["ID3", "audio/mpeg"],
  ["fLaC", "audio/flac"],
  ["OggS", "audio/ogg"],
];

/** The beginning is enough, but it may end inside a character. */
function isText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, 4096);
  if (head.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    // It is not text, which is not an error here.
    return false;
  }
}

const OFFICE = "application/vnd.openxmlformats-officedocument";

/** Types that vendors accept as input, and types that people search in. */
const TYPES_BY_NAME: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  pdf: "application/pdf",
  wav: "audio/wav",
  mp3: "audio/mpeg",
  flac: "audio/flac",
  ogg: "audio/ogg",
  webm: "video/webm",
  mp4: "video/mp4",
  txt: "text/plain",
  log: "text/plain",
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  html: "text/html",
  htm: "text/html",
  css: "text/css",
  xml: "text/xml",
  rtf: "application/rtf",
  json: "application/json",
  jsonl: "application/jsonl",
  yaml: "application/yaml",
  yml: "application/yaml",
  js: "text/javascript",
  mjs: "text/javascript",
  ts: "text/x-typescript",
  py: "text/x-python",
  sh: "text/x-shellscript",
  c: "text/x-c",
  h: "text/x-c",
  cpp: "text/x-c++",
  cs: "text/x-csharp",
  java: "text/x-java",
  go: "text/x-go",
  rs: "text/x-rust",
  rb: "text/x-ruby",
  php: "text/x-php",
  tex: "text/x-tex",
  sql: "text/x-sql",
  doc: "application/msword",
  xls: "application/vnd.ms-excel",
  ppt: "application/vnd.ms-powerpoint",
  docx: `${OFFICE}.wordprocessingml.document`,
  xlsx: `${OFFICE}.spreadsheetml.sheet`,
  pptx: `${OFFICE}.presentationml.presentation`,
  zip: "application/zip",
  tar: "application/x-tar",
  gz: "application/gzip",
};
