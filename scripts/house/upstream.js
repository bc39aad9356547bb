/** A model's server that knows one answer. It is not part of the product, so that nothing of it is counted. */

import { createServer } from "node:http";

const WORDS = "Foxes are small and clever animals.".split(" ");
const USAGE = { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 };

/** Answers every chat completion with the same words, streamed or whole. */
export async function startUpstream() {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => answer(response, JSON.parse(text).stream === true));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: server.address().port, close: () => server.close() };
}

function answer(response, isStreamed) {
  const about = { id: "chatcmpl-1", created: 0, model: "walked" };
  if (!isStreamed) {
    const message = { role: "assistant", content: WORDS.join(" ") };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...about, object: "chat.completion", choices, usage: USAGE }));
    return;
  }
  const toChunk = (delta, finish_reason = null) => ({
    ...about,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [
    ...WORDS.map((word) => toChunk({ role: "assistant", content: `${word} ` })),
    { ...toChunk({}, "stop"), usage: USAGE },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(
    `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`,
  );
}
