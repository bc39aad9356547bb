/**
 * The model's server of `tenants.ts`, in a process of its own. It answers at once; with a document if a schema is
 * asked for, which is slow to check with the hostile one; and background requests after a second.
 */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { LATER, SLOW_NAME } from "./tenants-hostile.ts";

const LATER_MS = 1000;
/** The text that is slow for the pattern of the hostile schema. */
const SLOW_ANSWER = JSON.stringify({ a: `${"a".repeat(40)}!` });
const PLAIN_ANSWER = JSON.stringify({ a: "aaa" });

const server = createServer(async (request, response) => {
  let size = 0;
  let head = "";
  for await (const piece of request) {
    size += (piece as Buffer).length;
    if (size < 1_000_000) head += String(piece);
  }
  if (head.includes(LATER)) await sleep(LATER_MS);
  const schema = head.includes(SLOW_NAME) ? SLOW_ANSWER : PLAIN_ANSWER;
  const content = head.includes("response_format") ? schema : "Hello.";
  answer(response, content, /"stream":\s*true/.test(head));
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());

function answer(response: ServerResponse, content: string, isStreamed: boolean): void {
  const choice = { index: 0, finish_reason: "stop" };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const about = { id: "chatcmpl-1", created: 1, model: "x", usage };
  const said = { role: "assistant", content };
  if (!isStreamed) {
    const choices = [{ ...choice, message: said }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...about, object: "chat.completion", choices }));
    return;
  }
  const choices = [{ ...choice, delta: said }];
  const chunk = { ...about, object: "chat.completion.chunk", choices };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}
