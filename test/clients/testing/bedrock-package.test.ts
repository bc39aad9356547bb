/** The vendor's own package as a client of the upstream: the package reads, signs and refuses correctly. */

import assert from "node:assert/strict";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseStreamCommandInput,
  type ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import {
  type BedrockUpstreamOptions,
  startBedrockUpstream,
} from "../../../src/testing/bedrock-upstream.ts";
import { reply } from "../../../src/testing/reply.ts";
import { script } from "../../../src/testing/script.ts";

const CALLERS = [
  { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "session" },
];
const modelId = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const input: ConverseStreamCommandInput = {
  modelId,
  messages: [{ role: "user", content: [{ text: "Grüße" }] }],
  toolConfig: {
    tools: [{ toolSpec: { name: "read", inputSchema: { json: { type: "object" } } } }],
  },
};

/** The part of an HTTP request that the package makes. */
interface PackageRequest {
  readonly method: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
}

/** The package uses HTTP/2 with this service by default, and the upstream does not. */
const requestHandler = {
  handle: ({ hostname, port, path, method, headers, body }: PackageRequest) =>
    new Promise<{ response: { statusCode: number; headers: object; body: IncomingMessage } }>(
      (resolve, reject) => {
        const options = { hostname, port, path, method, headers, agent: false };
        const call = httpRequest(options, (answer) => {
          const { statusCode = 0, headers: given } = answer;
          resolve({ response: { statusCode, headers: given, body: answer } });
        });
        call.on("error", reject);
        call.end(body);
      },
    ),
};

const clientOf = (endpoint: string, secretAccessKey = "secret"): BedrockRuntimeClient =>
  new BedrockRuntimeClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey, sessionToken: "session" },
    maxAttempts: 1,
    requestHandler: requestHandler as never,
  });

async function streamOf(options: BedrockUpstreamOptions): Promise<ConverseStreamOutput[]> {
  await using upstream = await startBedrockUpstream({ callers: CALLERS, ...options });
  const { stream } = await clientOf(upstream.url).send(new ConverseStreamCommand(input));
  const events: ConverseStreamOutput[] = [];
  for await (const event of stream ?? []) events.push(event);
  return events;
}

describe("bedrock upstream and the vendor's package", () => {
  it("streams reasoning, text, calls and usage", async () => {
    const calls = reply.calls([{ name: "read", arguments: { path: "a" } }], { text: "Let me." });
    const events = await streamOf({ engine: script(reply.reasoning("Hm.", calls)) });
    const deltas = events.flatMap(({ contentBlockDelta }) => contentBlockDelta?.delta ?? []);
    assert.equal(deltas.map((delta) => delta.text ?? "").join(""), "Let me.");
    assert.equal(deltas.map((delta) => delta.reasoningContent?.text ?? "").join(""), "Hm.");
    assert.ok(deltas.some((delta) => delta.reasoningContent?.signature));
    assert.equal(deltas.map((delta) => delta.toolUse?.input ?? "").join(""), '{"path":"a"}');
    const start = events.find(({ contentBlockStart }) => contentBlockStart);
    assert.equal(start?.contentBlockStart?.start?.toolUse?.name, "read");
    assert.equal(events.at(-2)?.messageStop?.stopReason, "tool_use");
    assert.ok((events.at(-1)?.metadata?.usage?.totalTokens ?? 0) > 0);
  });

  it("returns a plain answer", async () => {
    const engine = script(reply.reasoning("Hm.", reply.text("Hello, world!")));
    await using upstream = await startBedrockUpstream({ engine, callers: CALLERS });
    const { output, stopReason } = await clientOf(upstream.url).send(new ConverseCommand(input));
    assert.equal(output?.message?.content?.[1]?.text, "Hello, world!");
    assert.equal(stopReason, "end_turn");
  });

  it("turns an exception in the stream into the package's error", async () => {
    const engine = script(reply.failure("broke", { text: "So" }));
    await assert.rejects(streamOf({ engine }), { name: "ModelStreamErrorException" });
  });

  it("turns a refusal into the package's error", async () => {
    await using upstream = await startBedrockUpstream({ engine: script(), callers: CALLERS });
    const wrong = clientOf(upstream.url, "wrong").send(new ConverseStreamCommand(input));
    await assert.rejects(wrong, { name: "InvalidSignatureException" });
    const empty = { ...input, messages: [] };
    await assert.rejects(clientOf(upstream.url).send(new ConverseStreamCommand(empty)), {
      name: "ValidationException",
      message: /must start with a user message/,
    });
  });

  it("accepts a Bedrock key", async () => {
    const engine = script(reply.text("Hi."));
    await using upstream = await startBedrockUpstream({ engine, key: "bedrock-key" });
    const client = new BedrockRuntimeClient({
      endpoint: upstream.url,
      region: "us-east-1",
      token: { token: "bedrock-key" },
      authSchemePreference: ["httpBearerAuth"],
      requestHandler: requestHandler as never,
    });
    const { output } = await client.send(new ConverseCommand(input));
    assert.equal(output?.message?.content?.[0]?.text, "Hi.");
  });
});
