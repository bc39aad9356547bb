/** Ollama's native wire: `/api/chat`, one JSON document on each line. */

import { createLineReader, type LineReader } from "../../base/lines.ts";
import type { Wire } from "../wire.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest, OPTIONS, omitsOf, relaxThinking } from "./encode.ts";

export const ollamaWire: Wire = {
  name: "ollama",
  options: OPTIONS,
  omits: omitsOf,
  path: () => "/api/chat",
  createReader: createJsonLineReader,
  encode: encodeRequest,
  decoder: createDecoder,
  recover: relaxThinking,
};

/** Reads lines. LF alone ends a line; a byte order mark that a proxy added is removed. */
function createJsonLineReader(onData: (data: string) => void): LineReader {
  let isFirst = true;
  return createLineReader({
    endings: "lf",
    onLine(line) {
      const data = isFirst && line.startsWith("\ufeff") ? line.slice(1) : line;
      isFirst = false;
      if (data !== "") onData(data);
    },
  });
}
