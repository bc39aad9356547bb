/** A model's server with one answer. It is not part of the product, so that nothing of it is counted. */

import { createServer } from "node:http";

const PAUSE_MS = 20;
const WORDS = "Foxes are small and clever animals.".split(" ");
const USAGE = { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 };

/**
 * Answers every chat completion with the same words, streamed or whole. `isPaced`: each piece is sent when the one
 * before it has gone. `calls`: a request without a result of a tool gets a call of its first tool.
 */
export async function startUpstream({ isPaced = false, calls = false } = {}) {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      const { messages, tools, stream } = JSON.parse(text);
      const isFirst = calls && messages.at(-1).role !== "tool";
      const call = isFirst ? toCall(tools[0].function.name) : undefined;
      answer(response, { isStreamed: stream === true, isPaced, call });
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: server.address().port, close: () => server.close() };
}

function toCall(name) {
  const code = JSON.stringify({ code: "print(6 * 7)" });
  return { index: 0, id: "call_1", type: "function", function: { name, arguments: code } };
}

function answer(response, { isStreamed, isPaced, call }) {
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
  const chunks = call
    ? [toChunk({ role: "assistant", tool_calls: [call] })]
    : WORDS.map((word) => toChunk({ role: "assistant", content: `${word} ` }));
  chunks.push({ ...toChunk({}, call ? "tool_calls" : "stop"), usage: USAGE });
  const frames = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (isPaced) send(response, frames);
  else response.end(frames.map(toFrame).join(""));
}

function toFrame(data) {
  return `data: ${data}\n\n`;
}

/** One after the other, so that none arrives together with the next. */
function send(response, [frame, ...rest]) {
  if (frame === undefined) response.end();
  else response.write(toFrame(frame), () => setTimeout(() => send(response, rest), PAUSE_MS));
}
