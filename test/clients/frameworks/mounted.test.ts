/** `offshoot/server` mounted in other frameworks: Express over `node:http`, and Hono, which is fetch-style. */

import assert from "node:assert/strict";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { Hono } from "hono";
import OpenAI from "openai";
import { reply } from "../../../src/testing/index.ts";
import { openTestApp } from "../../server/embedded/test-app.ts";

type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

interface ExpressSite extends RequestListener {
  use(middleware: Middleware): ExpressSite;
}

/** The part of Express that is used here: its types are a package of their own. */
interface Express {
  (): ExpressSite;
  json(): Middleware;
}

const express = createRequire(import.meta.url)("express") as Express;

describe("a server mounted in another framework", () => {
  it("is a middleware of Express, after one that has parsed the body", async (t) => {
    const { app, key } = await openTestApp(t, [reply.text("Under Express.")]);
    const site = express().use(express.json());
    site.use((request, response, next) => void app.handle(request, response, next));
    site.use((_, response) => void response.end("the shop"));
    const server = createServer(site);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => void server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    assert.equal(await (await fetch(`${url}/shop`)).text(), "the shop");
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
    const { output_text } = await client.responses.create({ model: "any", input: "Hi" });
    assert.equal(output_text, "Under Express.");
  });

  it("is a route of Hono, and the `fetch` of a client in the same process", async (t) => {
    const { app, key } = await openTestApp(t, [reply.text("Under Hono."), reply.text("No port.")]);
    const site = new Hono();
    site.all("/v1/*", (context) => app.fetch(context.req.raw));
    const viaHono = async (...asked: Parameters<typeof fetch>): Promise<Response> =>
      await site.fetch(new Request(...asked));
    const inside = async (...asked: Parameters<typeof fetch>): Promise<Response> =>
      await app.fetch(new Request(...asked));
    for (const [ask, said] of [
      [viaHono, "Under Hono."],
      [inside, "No port."],
    ] as const) {
      const baseURL = "http://localhost/v1";
      const client = new OpenAI({ baseURL, apiKey: key, fetch: ask, maxRetries: 0 });
      let text = "";
      const stream = await client.responses.create({ model: "any", input: "Hi", stream: true });
      for await (const event of stream) {
        if (event.type === "response.output_text.delta") text += event.delta;
      }
      assert.equal(text, said);
    }
  });
});
