import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { createHttpProvider } from "../../../src/providers/http/http-provider.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { llamacppWire } from "../../../src/providers/llamacpp/wire.ts";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { vendorOf } from "../../../src/providers/vendors/catalog.ts";
import { startLlamacppUpstream } from "../../../src/testing/llamacpp-upstream.ts";
import type { Upstream } from "../../../src/testing/loopback.ts";
import { reply } from "../../../src/testing/reply.ts";
import { script } from "../../../src/testing/script.ts";
import { PATIENT_TIMEOUTS } from "../../patience.ts";
import { assistant, call, output, thought, user } from "../conversation.ts";
import { eventsOf, request, textOf } from "../provider-contract.ts";

const transport = createTransport({});
const upstreams: Upstream[] = [];
after(async () => {
  await transport.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

const over = (upstream: Upstream): Provider =>
  createHttpProvider({
    vendor: "llamacpp",
    wire: llamacppWire,
    baseUrl: upstream.url,
    headers: {},
    quirks: vendorOf("llamacpp").quirks,
    transport,
    retry: { attempts: 2, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 },
    timeouts: PATIENT_TIMEOUTS,
  });

const SCHEMA = { type: "object", properties: { a: { type: "number" } } };
const strict = { type: "json_schema", name: "out", schema: SCHEMA, strict: true } as const;
const tools = [{ type: "function", name: "read" }] as const;
const encode = (more: Partial<ModelRequest>) => llamacppWire.encode(request(more), {});

describe("a llama-server body", () => {
  it("switches thinking through the template, and never by `reasoning_effort`", () => {
    const rows = [
      [undefined, undefined],
      ["none", { enable_thinking: false }],
      ["minimal", { enable_thinking: true, reasoning_effort: "low" }],
      ["medium", { enable_thinking: true, reasoning_effort: "medium" }],
      ["max", { enable_thinking: true, reasoning_effort: "high" }],
    ] as const;
    for (const [effort, kwargs] of rows) {
      const body = encode({ reasoning: { effort, summary: undefined } });
      assert.deepEqual(body["chat_template_kwargs"], kwargs);
      assert.ok(!("reasoning_effort" in body));
    }
  });

  it("asks for a schema, then for any JSON, and beside tools only in the instructions", () => {
    assert.deepEqual(encode({ format: strict })["response_format"], {
      type: "json_schema",
      json_schema: { name: "out", schema: SCHEMA, strict: true },
    });
    const wish = { ...strict, strict: false };
    const plain = encode({ format: wish });
    assert.deepEqual(plain["response_format"], { type: "json_object" });
    const withTools = encode({ format: wish, tools });
    assert.ok(!("response_format" in withTools));
    for (const { messages } of [plain, withTools] as { messages?: unknown }[]) {
      assert.match(JSON.stringify(messages), /fits this JSON schema/);
    }
  });

  it("is sent again if the server makes no grammar of the schema", async () => {
    await using upstream = await startLlamacppUpstream({ engine: script(reply.text("{}")) });
    const format = { ...strict, schema: { not: { type: "string" } } };
    assert.equal(textOf(await eventsOf(over(upstream), request({ format }))), "{}");
    assert.deepEqual(
      upstream.requests.map(({ body }) => (body["response_format"] as { type: string }).type),
      ["json_schema", "json_object"],
    );
  });

  it("is sent again with text among the reasoning if the template accepts only one of the two", async () => {
    const engine = script(reply.text("Done."));
    await using upstream = await startLlamacppUpstream({
      engine,
      modelPath: "/models/gpt-oss-20b.gguf",
    });
    const said = [user("Go"), thought("Hm."), assistant("I look."), call("c1"), output("c1", "1")];
    const later = [thought("So."), call("c2"), output("c2", "2"), user("And?")];
    const items = [...said, ...later];
    assert.equal(textOf(await eventsOf(over(upstream), request({ items }))), "Done.");
    const [first, second] = upstream.requests.map(({ body }) => body["messages"] as object[]);
    assert.deepEqual(second?.at(-5), {
      ...first?.at(-5),
      content: null,
      reasoning_content: "Hm.\nI look.",
    });
    assert.deepEqual(second?.slice(-4), first?.slice(-4));
  });

  it("is not sent again for other reasons", () => {
    const recover = (code: "provider_rejected" | "provider_overloaded", message: string) =>
      llamacppWire.recover?.(request({ format: strict }), new Failure(code, message));
    assert.equal(recover("provider_rejected", "Invalid API Key"), undefined);
    assert.equal(recover("provider_overloaded", "no grammar today"), undefined);
    const text = llamacppWire.recover?.(
      request(),
      new Failure("provider_rejected", "grammar is bad"),
    );
    assert.equal(text, undefined);
  });
});
