/**
 * A chat server of canned answers, whole or as a stream of 256 events, each written by itself: all at once, or one by
 * one as a model does. For a request with `pace:N` the stream sends an event every N milliseconds.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";

export const EVENTS = 256;
const WORDS = ["the ", "quick ", "brown ", "fox ", "jumps ", "over ", "it, ", "and "];

/** In the text of the request. */
const PACE = /pace:(\d+)/;
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

/** Sends its parent the port. `hold` keeps each stream open after its first event. */
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
  const pace = PACE.exec(body)?.[1];
  for (const frame of FRAMES) {
    response.write(frame);
    if (pace) await setTimeout(Number(pace) * vary());
  }
  response.end();
}

let seed = 1;

/**
 * Between 0.5 and 1.5, the same in each run. Streams that were begun together would otherwise send their events in the
 * same turns of the event loop for ever, which no models do: a gateway would have one read of all of them.
 */
function vary(): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return 0.5 + seed / 2_147_483_647;
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
