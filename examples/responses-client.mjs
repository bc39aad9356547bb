/**
 * The official OpenAI client against your own server: an answer, a stream, a second turn. Start `offshoot serve`, set
 * OPENAI_BASE_URL (http://127.0.0.1:8484/v1) and OPENAI_API_KEY (the key that it prints), `npm install openai`, then
 * `node responses-client.mjs`. Write the name of a real model in place of `embedded/offline` when you have one.
 */

import OpenAI from "openai";

const client = new OpenAI();
const model = process.env.MODEL ?? "embedded/offline";

const first = await client.responses.create({ model, input: "My name is Ada." });
console.log(first.status);

const stream = await client.responses.create({ model, input: "compute 6*7", stream: true });
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
}
console.log();

const input = "What is my name?";
const second = await client.responses.create({ model, input, previous_response_id: first.id });
console.log(second.output_text);
