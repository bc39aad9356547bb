/** The `openai` package with the built server: each refusal is an error of the matching class. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { reply, respond, script } from "../../../src/testing/index.ts";
import { slowModel, startSlowUpstream } from "../../e2e/served.ts";
import { until } from "../../patience.ts";
import { type ClientBench, KEY, serveEmbedded, serveScript, TIMEOUT } from "./client-fixture.ts";

const model = "scripted";

describe("the openai package, refused", () => {
  it("distinguishes missing, wrong and forbidden", TIMEOUT, async () => {
    await using bench = await serveScript(script());
    const { responses } = openClient(bench);
    await rejects(responses.retrieve("resp_nobodys"), OpenAI.NotFoundError, { status: 404 });
    await rejects(
      responses.create({ model, input: "Hi", previous_response_id: "resp_nobodys" }),
      OpenAI.BadRequestError,
      { code: "previous_response_not_found", param: "previous_response_id" },
    );
    await rejects(
      responses.create({ model, input: "Hi", background: true, store: false }),
      OpenAI.BadRequestError,
      { param: "background" },
    );
    await rejects(
      responses.create({ model, input: "Hi", temperature: 9 }),
      OpenAI.BadRequestError,
      { param: "temperature", type: "invalid_request_error" },
    );
    await rejects(
      openClient(bench, "wrong").responses.create({ model, input: "Hi" }),
      OpenAI.AuthenticationError,
      { status: 401, code: "invalid_api_key" },
    );
    assert.equal(bench.asked.length, 0);
  });

  it("recognizes a busy model, plain and streamed", TIMEOUT, async () => {
    const busy = { error: { message: "Slow down.", type: "rate_limit_error" } };
    await using bench = await serveScript(
      respond(() => reply.status(429, busy)),
      { env: { OFFSHOOT_MAX_RETRIES: "0" } },
    );
    const { responses } = openClient(bench);
    const request = { model, input: "Hi" } as const;
    const expected = { status: 429, code: "rate_limit_exceeded" };
    await rejects(responses.create(request), OpenAI.RateLimitError, expected);
    // On a slow machine the answer may begin before the model's has come: then it is asked again.
    const refusal = await until(
      () => responses.create({ ...request, stream: true }).then(ignore, (thrown) => thrown),
      "a refusal of the stream",
    );
    await rejects(Promise.reject(refusal), OpenAI.RateLimitError, expected);
  });

  it("gets an error in the middle of a stream", TIMEOUT, async () => {
    await using upstream = await startSlowUpstream();
    await using bench = await serveEmbedded({
      args: slowModel(upstream),
      env: { OFFSHOOT_MAX_RETRIES: "0" },
    });
    const { responses } = openClient(bench);
    const stream = await responses.create({ model, input: "Hi", stream: true });
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of stream) {
        seen.push(event.type);
        if (event.type === "response.output_text.delta") await upstream[Symbol.asyncDispose]();
      }
    };
    await assert.rejects(read(), (thrown: unknown) => {
      assert.ok(thrown instanceof OpenAI.APIError);
      assert.equal(thrown.code, "server_error");
      return true;
    });
    assert.ok(seen.includes("response.output_text.delta"));
  });

  it("retries by itself after a request that may succeed the second time", TIMEOUT, async () => {
    let asked = 0;
    await using bench = await serveScript(
      respond(() => (++asked === 1 ? reply.status(503, "busy") : reply.text("Here."))),
      { env: { OFFSHOOT_MAX_RETRIES: "0" } },
    );
    const client = new OpenAI({ baseURL: bench.baseURL, apiKey: KEY, maxRetries: 2 });
    assert.equal((await client.responses.create({ model, input: "Hi" })).output_text, "Here.");
    assert.equal(asked, 2);
  });
});

function ignore(): undefined {}

function openClient({ baseURL }: ClientBench, apiKey = KEY): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

type ErrorClass = new (...args: never[]) => InstanceType<typeof OpenAI.APIError>;

/** The error has this class and these fields. */
async function rejects(
  asked: Promise<unknown>,
  kind: ErrorClass,
  expected: Readonly<Record<string, unknown>>,
): Promise<void> {
  await assert.rejects(asked, (thrown: unknown) => {
    assert.ok(thrown instanceof kind, String(thrown));
    for (const [name, value] of Object.entries(expected)) {
      assert.equal(thrown[name as keyof typeof thrown], value, name);
    }
    return true;
  });
}
