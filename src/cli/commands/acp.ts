/**
 * `offshoot acp`: an editor starts it, and speaks the Agent Client Protocol over standard input and output.
 */

import { ndJsonStream } from "@agentclientprotocol/sdk";
import { Failure } from "../../base/failure.ts";
import { serveAcp } from "../acp/acp-agent.ts";
import type { RunCommand } from "../command.ts";

export const run: RunCommand = async ({ options: { setup, ...options }, words }, io) => {
  if (setup) return await (await import("./setup.ts")).run({ options: {}, words }, io);
  const { chunks } = io.stdin;
  if (io.stdin.isTerminal || !chunks) {
    const message =
      "`offshoot acp` is started by an editor: name it in the editor's settings as an agent server (docs/acp.md).";
    throw new Failure("invalid_request", message);
  }
  const input = ReadableStream.from(toBytes(chunks()));
  const output = new WritableStream<Uint8Array>({
    async write(bytes) {
      await io.stdout.write(Buffer.from(bytes).toString("utf8"));
    },
  });
  await serveAcp({ io, options }, ndJsonStream(output, input));
  return 0;
};

async function* toBytes(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}
