import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createAwsSign } from "../../src/providers/bedrock/aws-auth.ts";
import { bedrockWire } from "../../src/providers/bedrock/wire.ts";
import {
  createHttpProvider,
  type HttpProviderOptions,
} from "../../src/providers/http/http-provider.ts";
import { createTransport } from "../../src/providers/http/transport.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { damagedFrame } from "../../src/testing/bedrock/event-frames.ts";
import {
  type BedrockUpstreamOptions,
  startBedrockUpstream,
} from "../../src/testing/bedrock-upstream.ts";
import type { Upstream } from "../../src/testing/loopback.ts";
import { reply } from "../../src/testing/reply.ts";
import { script } from "../../src/testing/script.ts";
import { PATIENT_TIMEOUTS } from "../patience.ts";
import { CLAUDE } from "./bedrock/converse.ts";
import { eventsOf, request, textOf } from "./provider-contract.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];
const ENV = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_REGION: "us-east-1",
};
const CALLERS = [{ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" }];

const over = (upstream: Upstream, more: Partial<HttpProviderOptions> = {}): Provider =>
  createHttpProvider({
    vendor: "bedrock",
    wire: bedrockWire,
    baseUrl: upstream.url,
    headers: {},
    sign: createAwsSign(ENV),
    quirks: {},
    transport,
    retry: { attempts: 2, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 },
    timeouts: PATIENT_TIMEOUTS,
    ...more,
  });

after(async () => {
  await transport.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

describe("the bedrock provider", () => {
  for (const part of ["head", "payload", "checksum"] as const) {
    it(`rejects a frame that is damaged in its ${part}`, async () => {
      const engine = script(reply.text("A text of several frames."));
      await using upstream = await startBedrockUpstream({ engine, faults: damagedFrame({ part }) });
      await assert.rejects(eventsOf(over(upstream), request()), {
        code: "provider_broke_protocol",
        message: /checksum/,
      });
    });
  }

  const refusals: readonly [name: string, env: Record<string, string>, more: object][] = [
    ["a wrong secret", { AWS_SECRET_ACCESS_KEY: "other" }, {}],
    ["an unknown key", { AWS_ACCESS_KEY_ID: "AKIDOTHER" }, {}],
    ["a token that has expired", {}, { callers: [{ ...CALLERS[0], expiresAt: 1 }] }],
    ["another region", { AWS_REGION: "eu-west-1" }, {}],
    ["a wrong Bedrock key", { AWS_BEARER_TOKEN_BEDROCK: "no" }, { key: "yes" }],
  ];
  for (const [name, env, more] of refusals) {
    it(`is refused once with ${name}`, async () => {
      const options: BedrockUpstreamOptions = { engine: script(), callers: CALLERS, ...more };
      await using upstream = await startBedrockUpstream(options);
      const provider = over(upstream, { sign: createAwsSign({ ...ENV, ...env }) });
      await assert.rejects(eventsOf(provider, request()), { code: "provider_unauthorized" });
      assert.equal(upstream.requests.length, 1);
    });
  }

  it("accepts a Bedrock key", async () => {
    await using upstream = await startBedrockUpstream({
      engine: script(reply.text("Hi.")),
      key: "bedrock-key",
    });
    const sign = createAwsSign({ AWS_BEARER_TOKEN_BEDROCK: "bedrock-key" });
    assert.equal(textOf(await eventsOf(over(upstream, { sign }), request())), "Hi.");
  });

  it("asks for a schema as a tool if the schema is not strict", async () => {
    const engine = script(reply.calls([{ name: "json", arguments: { a: 1 } }]));
    await using upstream = await startBedrockUpstream({ engine });
    const schema = { type: "object", properties: { a: { type: "number" } } };
    const format = { type: "json_schema", name: "out", schema, strict: true } as const;
    const events = await eventsOf(over(upstream), request({ model: CLAUDE, format }));
    assert.equal(textOf(events), '{"a":1}');
    assert.equal(upstream.requests.length, 2);
    const last = events.at(-1);
    assert.equal(last?.type === "end" && last.reason, "stop");
  });

  it("maps exceptions in the stream to failure codes", async () => {
    const frames = [
      '{"messageStart":{"role":"assistant"}}',
      '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"So"}}}',
      '{"throttlingException":{"message":"Too many tokens"}}',
    ];
    await using upstream = await startBedrockUpstream({ engine: script(reply.raw(frames)) });
    await assert.rejects(eventsOf(over(upstream), request()), {
      code: "provider_overloaded",
      message: /Too many tokens/,
    });
  });

  it("reads an answer that was not streamed", async () => {
    const content = [{ text: "Whole." }];
    const body = { output: { message: { role: "assistant", content } }, stopReason: "end_turn" };
    const engine = script(reply.status(200, body, { "content-type": "application/json" }));
    await using upstream = await startBedrockUpstream({ engine });
    assert.equal(textOf(await eventsOf(over(upstream), request())), "Whole.");
  });
});
