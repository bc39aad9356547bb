/** One address with the APIs of all vendors that the docs ask, each a stand-in that answers with a text. */

import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { startEmbeddingsUpstream } from "../../../src/testing/embeddings-upstream.ts";
import {
  reply,
  respond,
  startChatUpstream,
  startMessagesUpstream,
  startResponsesUpstream,
} from "../../../src/testing/index.ts";

export interface DocVendors extends AsyncDisposable {
  readonly origin: string;
}

const engine = () =>
  respond((asked) =>
    JSON.stringify(asked).includes("Eiffel")
      ? reply.text('{"city":"Paris"}')
      : reply.text("Hello."),
  );

/** Fields that a server has beyond those of the API that it speaks; its address begins with its name. */
const OWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  vllm: ["top_k", "chat_template_kwargs"],
  openrouter: ["top_k", "provider"],
};

function withoutFields(body: string, fields: readonly string[]): string {
  if (fields.length === 0) return body;
  const parsed = JSON.parse(body) as Record<string, unknown>;
  return JSON.stringify(parsed, (name, value: unknown) =>
    fields.includes(name) ? undefined : value,
  );
}

export async function startDocVendors(): Promise<DocVendors> {
  const upstreams = {
    "/chat/completions": await startChatUpstream({ engine: engine() }),
    "/responses": await startResponsesUpstream({ engine: engine() }),
    "/messages": await startMessagesUpstream({ engine: engine() }),
    "/embeddings": await startEmbeddingsUpstream(),
  };
  const pass = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const [path = ""] = (asked.url ?? "").split("?");
    const [, own = ""] = path.split("/");
    const [end, upstream] = Object.entries(upstreams).find(([one]) => path.endsWith(one)) ?? [];
    const body = withoutFields(await text(asked), OWN_FIELDS[own] ?? []);
    if (end === undefined || !upstream) return void answer.writeHead(404).end();
    const { method, headers } = asked;
    const target = new URL(`/v1${end}`, upstream.url);
    const sent = { ...headers, "content-length": Buffer.byteLength(body) };
    const onward = request(target, { method, headers: sent }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    onward.end(body);
  };
  const server = createServer((asked, answer) => void pass(asked, answer)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
      for (const upstream of Object.values(upstreams)) await upstream.close();
    },
  };
}
