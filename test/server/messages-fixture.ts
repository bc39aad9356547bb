/** For tests of the Messages API over HTTP: asks a server, also one whose model refuses everything. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { MODEL_RETRY } from "../../src/base/retry.ts";
import { reply, type Script, script } from "../../src/testing/index.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

export type Fields = Record<string, unknown>;

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Fields;
}

export async function ask(
  server: TestServer,
  body: object,
  { headers = {}, path = "/v1/messages?beta=true" }: Asked = {},
): Promise<Answered> {
  const answer = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify({ model: "m", max_tokens: 1000, ...body }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: isJson ? JSON.parse(text) : {},
  };
}

export const hears = (content: unknown): object => ({ messages: [{ role: "user", content }] });

export function start(t: TestContext, engine: Script, setup?: ServerSetup): Promise<TestServer> {
  return startServer(t, engine, setup);
}

export const hi = (): Script => script(reply.text("Hi."));

/** A model's server that answers everything with one refusal. */
export async function startFailing(
  t: TestContext,
  status: number,
  body: object,
): Promise<TestServer> {
  const failing = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => failing.listen(0, "127.0.0.1", resolve));
  t.after(() => void failing.close());
  const url = `http://127.0.0.1:${(failing.address() as AddressInfo).port}/v1`;
  const usual = { model: "custom/m", provider: "openai-chat", url, api_key_name: null };
  return await start(t, hi(), {
    settings: { models: { named: [], usual } },
    retry: { ...MODEL_RETRY, attempts: 1 },
  });
}
