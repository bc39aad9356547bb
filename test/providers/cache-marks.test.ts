/** `prompt_cache_breakpoint` on parts, and the retention of the marked prefix, on each wire. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { ContentPart } from "../../src/protocol/content.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { VENDOR_NAMES, type VendorName, vendorOf } from "../../src/providers/vendors/catalog.ts";
import type { Wire, WireName } from "../../src/providers/wire.ts";
import { loadWire } from "../../src/providers/wires.ts";
import { assistant, call, user } from "./conversation.ts";
import { request } from "./provider-contract.ts";

const breakpoint = { mode: "explicit" as const };
const text = (words: string): ContentPart => ({ type: "input_text", text: words });
const marked = (words: string): ContentPart => ({
  type: "input_text",
  text: words,
  prompt_cache_breakpoint: breakpoint,
});
const said = (role: "user" | "system", ...content: ContentPart[]): Item => ({
  type: "message",
  role,
  content,
});
const given = (call_id: string, ...output: ContentPart[]): Item => ({
  type: "function_call_output",
  call_id,
  output,
});

const CLAUDE_SLUG = "anthropic/claude-sonnet-4.5";
const MARK = { type: "ephemeral" };
const HOUR = { type: "ephemeral", ttl: "1h" };

interface Sent {
  readonly body: JsonObject;
  readonly omits: readonly string[];
}

async function send(
  vendor: VendorName,
  more: Partial<ModelRequest>,
  name: WireName = vendorOf(vendor).wire,
): Promise<Sent> {
  const wire: Wire = await loadWire(name);
  const { quirks } = vendorOf(vendor);
  const reasoning = { effort: undefined, summary: undefined };
  const asked = request({ instructions: undefined, reasoning, ...more });
  return { body: wire.encode(asked, quirks), omits: wire.omits?.(asked, quirks) ?? [] };
}

const messagesOf = ({ body }: Sent): JsonObject[] => body["messages"] as unknown as JsonObject[];

describe("a chat vendor that caches marked prefixes", () => {
  const items = [said("system", marked("Rules.")), said("user", marked("A long one."), text("Go"))];

  it("gets Anthropic's marks on the parts, and one for the end (openrouter)", async () => {
    const sent = await send("openrouter", { model: CLAUDE_SLUG, items });
    assert.deepEqual(messagesOf(sent), [
      { role: "system", content: [{ type: "text", text: "Rules.", cache_control: MARK }] },
      {
        role: "user",
        content: [
          { type: "text", text: "A long one.", cache_control: MARK },
          { type: "text", text: "Go" },
        ],
      },
    ]);
    assert.deepEqual(sent.body["cache_control"], MARK);
    assert.deepEqual(sent.omits, []);
  });

  it("gets them for an hour, all with the same retention", async () => {
    for (const prompt_cache_retention of ["24h", "1h"]) {
      const options = { prompt_cache_retention };
      const sent = await send("openrouter", { model: CLAUDE_SLUG, items, options });
      assert.deepEqual(sent.body["cache_control"], HOUR);
      assert.match(JSON.stringify(messagesOf(sent)), /"cache_control":\{[^}]*"ttl":"1h"/);
      assert.equal(sent.body["prompt_cache_retention"], undefined);
      assert.deepEqual(sent.omits, []);
    }
  });

  it("reports a retention that it does not know, or that is for other models", async () => {
    for (const [model, prompt_cache_retention] of [
      [CLAUDE_SLUG, "forever"],
      ["openai/gpt-5.1", "24h"],
    ] as const) {
      const sent = await send("openrouter", { model, items, options: { prompt_cache_retention } });
      assert.deepEqual(sent.omits, ["prompt_cache_retention"]);
      assert.doesNotMatch(JSON.stringify(sent.body), /prompt_cache_retention|"ttl"/);
    }
  });

  it("gets the caller's marks for every model, and marks of ours only for some", async () => {
    const sent = await send("openrouter", { model: "google/gemini-3.1-pro", items });
    assert.match(JSON.stringify(messagesOf(sent)), /"cache_control":\{"type":"ephemeral"\}/);
    assert.equal(sent.body["cache_control"], undefined);
  });

  it("gets at most four marks", async () => {
    const many = [said("user", ...["1", "2", "3", "4", "5"].map(marked))];
    const sent = await send("openrouter", { model: CLAUDE_SLUG, items: many });
    const parts = messagesOf(sent)[0]?.["content"] as unknown as JsonObject[];
    assert.deepEqual(
      parts.filter((part) => "cache_control" in part).map((part) => part["text"]),
      ["2", "3", "4", "5"],
    );
    assert.equal(sent.body["cache_control"], undefined);
  });

  it("gets the marks unchanged (openai, azure)", async () => {
    for (const vendor of ["openai", "azure"] as const) {
      const sent = await send(vendor, { items }, "openai-chat");
      assert.deepEqual(messagesOf(sent)[0]?.["content"], [
        { type: "text", text: "Rules.", prompt_cache_breakpoint: breakpoint },
      ]);
      assert.deepEqual(sent.omits, []);
    }
  });

  it("does not get marks on a tool's result, and reports them", async () => {
    const sent = await send("openrouter", {
      model: CLAUDE_SLUG,
      items: [user("Go"), call("a"), given("a", marked("1"))],
    });
    assert.deepEqual(sent.omits, ["prompt_cache_breakpoint"]);
  });
});

describe("a vendor without such marks", () => {
  const chats = VENDOR_NAMES.filter((name) => vendorOf(name).wire === "openai-chat");
  const others = ["gemini", "vertex", "cohere", "ollama", "llamacpp"] as const;
  for (const vendor of [...chats.filter((name) => name !== "openrouter"), ...others]) {
    it(`reports that they are left out: ${vendor}`, async () => {
      const { body, omits } = await send(vendor, { items: [said("user", marked("Go"))] });
      assert.ok(omits.includes("prompt_cache_breakpoint"), omits.join());
      assert.doesNotMatch(JSON.stringify(body), /breakpoint|cache_control/);
      const plain = await send(vendor, { items: [said("user", text("Go")), assistant("Yes")] });
      assert.deepEqual(plain.omits, []);
    });
  }
});

describe("the caller's cache points at Bedrock", () => {
  const model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
  const POINT = { cachePoint: { type: "default" } };

  it("follow the blocks of the marked parts", async () => {
    const items = [said("system", marked("Rules.")), said("user", marked("Long."), text("Go"))];
    const { body, omits } = await send("bedrock", { model, items });
    assert.deepEqual(body["system"], [{ text: "Rules." }, POINT]);
    assert.deepEqual(messagesOf({ body, omits }), [
      { role: "user", content: [{ text: "Long." }, POINT, { text: "Go" }] },
    ]);
    assert.deepEqual(omits, []);
  });

  it("follow a turn's results, and are never inside one", async () => {
    const tools = [{ type: "function" as const, name: "read" }];
    const items = [
      ...[user("Go"), call("a"), call("b")],
      ...[given("a", marked("1")), given("b", marked("2"))],
    ];
    const [, , last] = messagesOf(await send("bedrock", { model, items, tools }));
    const content = last?.["content"] as unknown as JsonObject[];
    assert.deepEqual(
      content.map((block) => Object.keys(block)[0]),
      ["toolResult", "toolResult", "cachePoint"],
    );
    assert.doesNotMatch(JSON.stringify(content.slice(0, 2)), /cachePoint/);
  });

  it("come first, and are at most four with those that we add", async () => {
    const instructions = "Be brief. ".repeat(600);
    const tools = [{ type: "function" as const, name: "read" }];
    const points = async (count: number): Promise<number[]> => {
      const words = Array.from({ length: count }, (_, at) => marked(`${at}`));
      const items = [said("user", ...words, text("Go"))];
      const { body } = await send("bedrock", { model, items, instructions, tools });
      return [body["system"], body["messages"], body["toolConfig"]].map(
        (part) => JSON.stringify(part).split("cachePoint").length - 1,
      );
    };
    assert.deepEqual(await points(0), [1, 1, 1]);
    assert.deepEqual(await points(2), [1, 3, 0]);
    assert.deepEqual(await points(3), [1, 3, 0]);
    assert.deepEqual(await points(6), [0, 4, 0]);
  });

  it("last an hour if the model keeps them so long", async () => {
    const options = { prompt_cache_retention: "24h" };
    const items = [said("user", marked("Long."), text("Go"))];
    const hour = await send("bedrock", { model, items, options });
    assert.match(JSON.stringify(hour.body), /"cachePoint":\{"type":"default","ttl":"1h"\}/);
    assert.deepEqual(hour.omits, []);
    for (const other of ["us.amazon.nova-pro-v1:0", "anthropic.claude-sonnet-4-20250514-v1:0"]) {
      const short = await send("bedrock", { model: other, items, options });
      assert.match(JSON.stringify(short.body), /"cachePoint":\{"type":"default"\}/);
      assert.deepEqual(short.omits, ["prompt_cache_retention"]);
    }
  });

  it("are left out if the model refuses them, and reported", async () => {
    const items = [said("user", marked("Long."), text("Go"))];
    const { body, omits } = await send("bedrock", { model: "meta.llama4-v1:0", items });
    assert.doesNotMatch(JSON.stringify(body), /cachePoint/);
    assert.deepEqual(omits, ["prompt_cache_breakpoint"]);
  });
});

describe("the caller's marks for Claude", () => {
  const model = "claude-sonnet-4-5";

  it("are on instructions that came as messages", async () => {
    const items = [said("system", marked("Rules.")), user("Go")];
    const { body } = await send("anthropic", { model, items });
    assert.deepEqual(body["system"], [{ type: "text", text: "Rules.", cache_control: MARK }]);
  });

  it("are on a result, and not inside it", async () => {
    const items = [user("Go"), call("a"), given("a", marked("1")), user("And?")];
    const { body, omits } = await send("anthropic", { model, items });
    const turns = messagesOf({ body, omits }).map(({ content }) => content as unknown as object[]);
    assert.deepEqual(turns[2]?.[0], {
      type: "tool_result",
      tool_use_id: "a",
      content: [{ type: "text", text: "1" }],
      cache_control: MARK,
    });
  });
});
