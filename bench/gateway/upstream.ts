/** A chat server of canned answers, whole or as a stream of 256 events, each written by itself. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const EVENTS = 256;
const WORDS = ["the ", "quick ", "brown ", "fox ", "jumps ", "over ", "it, ", "and "];

const FRAMES = toFrames();
const WHOLE = JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "bench",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: WORDS.join("").repeat(8) },
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 20, completion_tokens: 64, total_tokens: 84 },
});

/** Tells its parent the port. `hold` keeps each stream open behind its first event. */
export function startUpstream({ hold = false } = {}): void {
  const server = createServer((request, response) => void answer(request, response, hold));
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  hold: boolean,
): Promise<void> {
  let body = "";
  for await (const piece of request) body += String(piece);
  if (!/"stream":\s*true/.test(body)) {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(WHOLE),
    });
    response.end(WHOLE);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (hold) {
    response.write(FRAMES[0]);
    response.write(FRAMES[1]);
    return;
  }
  for (const frame of FRAMES) response.write(frame);
  response.end();
}

function toFrames(): string[] {
  const chunk = (choice: object, usage?: object): string =>
    `data: ${JSON.stringify({
      id: "chatcmpl-bench",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "bench",
      choices: usage ? [] : [{ index: 0, ...choice }],
      ...(usage ? { usage } : {}),
    })}\n\n`;
  const deltas = Array.from({ length: EVENTS - 3 }, (_, at) =>
    chunk({ delta: { content: WORDS[at % WORDS.length] }, finish_reason: null }),
  );
  return [
    chunk({ delta: { role: "assistant", content: "" }, finish_reason: null }),
    ...deltas,
    chunk({ delta: {}, finish_reason: "stop" }),
    chunk({}, { prompt_tokens: 20, completion_tokens: 253, total_tokens: 273 }),
    "data: [DONE]\n\n",
  ];
}
