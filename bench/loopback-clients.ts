/**
 * The clients that read a stream over loopback: ours, popular packages, and what is possible
 * without a package. Each is loaded only by its own process, and returns how many pieces of text it
 * received, so that one that reads less than the others is noticed.
 */

import { once } from "node:events";
import { Agent, type IncomingMessage, request as openRequest } from "node:http";
import type { Wire } from "../src/providers/wire.ts";
import { importClient } from "./clients.ts";
import { MODEL_REQUEST } from "./model-request.ts";

/** Makes one request and reads the answer to its end. */
export type Client = () => Promise<number>;

/** How each is made, given the server's base URL. */
export const CLIENTS = {
  "chat: offshoot": async (url) => {
    const { chatWire } = await import("../src/providers/chat/wire.ts");
    return createOffshoot(url, chatWire);
  },
  "chat: openai": createOpenAiChat,
  "chat: ai + @ai-sdk/openai": createAiSdk,
  "chat: hand-written loop over node:http": async (url) => () => readByHand(url),
  "chat: bytes only over node:http": async (url) => () => readBytes(url),
  "responses: offshoot": async (url) => {
    const { responsesWire } = await import("../src/providers/responses/wire.ts");
    return createOffshoot(url, responsesWire);
  },
  "responses: openai create": createOpenAiResponses,
  "responses: openai stream": createOpenAiResponsesHelper,
} as const satisfies Record<string, (url: string) => Promise<Client>>;

export type ClientName = keyof typeof CLIENTS;

const PROMPT = "Hello";
const MODEL = MODEL_REQUEST.model;

async function createOffshoot(url: string, wire: Wire): Promise<Client> {
  const { createHttpProvider } = await import("../src/providers/http/http-provider.ts");
  const { createTransport } = await import("../src/providers/http/transport.ts");
  const provider = createHttpProvider({
    vendor: "bench",
    wire,
    baseUrl: url,
    headers: { authorization: "Bearer none" },
    quirks: {},
    transport: createTransport({}),
  });
  return async () => {
    let deltas = 0;
    const { signal } = new AbortController();
    for await (const batch of provider.stream(MODEL_REQUEST, { signal })) {
      for (const event of batch) if (event.type === "text_delta") deltas++;
    }
    return deltas;
  };
}

async function createOpenAiChat(url: string): Promise<Client> {
  const client = await openOpenAi(url);
  return async () => {
    let deltas = 0;
    const messages = [{ role: "user" as const, content: PROMPT }];
    const stream = await client.chat.completions.create({ model: MODEL, messages, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) deltas++;
    return deltas;
  };
}

async function createOpenAiResponses(url: string): Promise<Client> {
  const client = await openOpenAi(url);
  return async () => {
    let deltas = 0;
    const stream = await client.responses.create({ model: MODEL, input: PROMPT, stream: true });
    for await (const event of stream) if (event.type === "response.output_text.delta") deltas++;
    return deltas;
  };
}

/** The helper of the same package that also builds the answer up, as our decoder does. */
async function createOpenAiResponsesHelper(url: string): Promise<Client> {
  const client = await openOpenAi(url);
  return async () => {
    let deltas = 0;
    const stream = client.responses.stream({ model: MODEL, input: PROMPT });
    for await (const event of stream) if (event.type === "response.output_text.delta") deltas++;
    return deltas;
  };
}

/** The parts of the packages that are measured. */
interface OpenAi {
  readonly chat: { readonly completions: { create(body: object): Promise<AsyncIterable<Chunk>> } };
  readonly responses: {
    create(body: object): Promise<AsyncIterable<{ readonly type: string }>>;
    stream(body: object): AsyncIterable<{ readonly type: string }>;
  };
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[];
}

async function openOpenAi(url: string): Promise<OpenAi> {
  const { default: Client } = await importClient<{ default: new (options: object) => OpenAi }>(
    "openai",
  );
  return new Client({ baseURL: url, apiKey: "none" });
}

async function createAiSdk(url: string): Promise<Client> {
  const { streamText } = await importClient<{
    streamText(options: object): { readonly textStream: AsyncIterable<string> };
  }>("ai");
  const { createOpenAI } = await importClient<{
    createOpenAI(options: object): { chat(model: string): object };
  }>("@ai-sdk/openai");
  const model = createOpenAI({ baseURL: url, apiKey: "none" }).chat(MODEL);
  return async () => {
    let deltas = 0;
    for await (const _ of streamText({ model, prompt: PROMPT }).textStream) deltas++;
    return deltas;
  };
}

/** The least that could be written by hand: no faults detected, nothing built except the text. */
async function readByHand(url: string): Promise<number> {
  let deltas = 0;
  let rest = "";
  const answer = await post(url);
  answer.setEncoding("utf8");
  answer.on("data", (piece: string) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      const chunk = JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] };
      if (chunk.choices[0]?.delta.content) deltas++;
    }
  });
  await once(answer, "end");
  return deltas;
}

async function readBytes(url: string): Promise<number> {
  const answer = await post(url);
  answer.on("data", () => {});
  await once(answer, "end");
  return 0;
}

const agent = new Agent({ keepAlive: true });

async function post(url: string): Promise<IncomingMessage> {
  const headers = { "content-type": "application/json" };
  const request = openRequest(`${url}/chat/completions`, { method: "POST", agent, headers });
  request.end(JSON.stringify({ model: MODEL, stream: true, messages: [] }));
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return answer;
}
