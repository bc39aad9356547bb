/**
 * The official Anthropic client against your own server, on any model: an answer, and a tool that this program runs.
 * Start `offshoot serve`, set ANTHROPIC_BASE_URL (http://127.0.0.1:8484, without /v1) and ANTHROPIC_AUTH_TOKEN (the key
 * that it prints), `npm install @anthropic-ai/sdk`, then `node messages-client.mjs`.
 */

import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic();
const model = process.env.MODEL ?? "embedded/offline";

const answer = await client.messages.create({
  model,
  max_tokens: 500,
  messages: [{ role: "user", content: "compute 6*7" }],
});
console.log(answer.content[0].text);

const weather = {
  name: "weather",
  description: "The weather of a city.",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const question = { role: "user", content: 'use the weather tool with {"city": "Oslo"}' };
const asked = { model, max_tokens: 500, tools: [weather] };

const called = await client.messages.create({ ...asked, messages: [question] });
const call = called.content.find(({ type }) => type === "tool_use");
console.log(called.stop_reason, call.input.city);

const result = { type: "tool_result", tool_use_id: call.id, content: "7 °C, rain" };
const told = await client.messages.create({
  ...asked,
  messages: [
    question,
    { role: "assistant", content: called.content },
    { role: "user", content: [result] },
  ],
});
console.log(told.content[0].text);
