/**
 * The pieces still to be written to standard output and standard error, in order: on a terminal both share the
 * screen.
 */

import { toTextPieces } from "../../base/json-pieces.ts";
import { draw } from "../terminal.ts";
import type { ProjectionOptions } from "./projection.ts";

type StreamName = "stdout" | "stderr";

export class OutputPieces {
  readonly #outputs: Pick<ProjectionOptions, StreamName>;
  #pieces: { stream: StreamName; text: string }[] = [];

  constructor(outputs: Pick<ProjectionOptions, StreamName>) {
    this.#outputs = outputs;
  }

  add(stream: StreamName, text: string): void {
    const last = this.#pieces.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.#pieces.push({ stream, text });
  }

  /** One write for each run of pieces of one stream: mostly one for each batch. */
  async flush(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = [];
    for (const { stream, text } of pieces) {
      // A pipe holds a copy of what it was given until it is read.
      for (const piece of toTextPieces(text)) await draw(this.#outputs[stream], piece);
    }
  }
}
