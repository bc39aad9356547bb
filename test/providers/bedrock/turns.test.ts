import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ContentPart } from "../../../src/protocol/content.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import type { ConverseTurn } from "../../../src/providers/bedrock/schema.ts";
import { assistant, call, encode, output, READ, result, use, user } from "./converse.ts";

const turnsOf = (
  items: readonly Item[],
  tools: readonly Tool[] = [READ],
): readonly ConverseTurn[] => encode({ items, tools }).messages;

describe("the turns of a conversation", () => {
  it("alternate, and begin with the user's", () => {
    assert.deepEqual(turnsOf([assistant("Hi"), assistant("there"), user("A"), user("B")]), [
      { role: "user", content: [{ text: "(The conversation begins.)" }] },
      { role: "assistant", content: [{ text: "Hi" }, { text: "there" }] },
      { role: "user", content: [{ text: "A" }, { text: "B" }] },
    ]);
  });

  it("have no blank texts, and none is empty", () => {
    assert.deepEqual(turnsOf([user("A"), assistant(" \n"), user(""), user("B")]), [
      { role: "user", content: [{ text: "A" }, { text: "B" }] },
    ]);
  });

  it("do not end an answer that continues with white space", () => {
    assert.deepEqual(turnsOf([user("A"), assistant("So ")])[1]?.content, [{ text: "So" }]);
  });

  it("have the results of all calls of a turn in the next one, in call order", () => {
    const items = [
      user("A"),
      call("a"),
      call("b"),
      output("b", "2"),
      user("And?"),
      output("a", "1"),
    ];
    assert.deepEqual(turnsOf(items).slice(1), [
      { role: "assistant", content: [use("a"), use("b")] },
      { role: "user", content: [result("a", "1"), result("b", "2"), { text: "And?" }] },
    ]);
  });

  it("keep calls apart that were made one after the other", () => {
    const items = [user("A"), call("a"), output("a", "1"), call("b"), output("b", "2")];
    assert.deepEqual(
      turnsOf(items).map(({ role }) => role),
      ["user", "assistant", "user", "assistant", "user"],
    );
  });

  it("distinguish calls of different turns with the same id", () => {
    const items = [user("A"), call("a"), output("a", "1"), call("a"), output("a", "2")];
    const turns = turnsOf(items);
    assert.deepEqual(turns[2]?.content, [result("a", "1")]);
    assert.deepEqual(turns[4]?.content, [result("a", "2")]);
  });

  it("add results for calls without one, and send results without a call as text", () => {
    const [, , answered] = turnsOf([user("A"), call("a"), user("Stop.")]);
    const content = [{ text: "No result: the call was interrupted." }];
    assert.deepEqual(answered?.content, [
      { toolResult: { toolUseId: "a", content, status: "error" } },
      { text: "Stop." },
    ]);
    assert.deepEqual(turnsOf([user("A"), output("x", "1")])[0]?.content, [
      { text: "A" },
      { text: "[Result of an earlier call]" },
      { text: "1" },
    ]);
  });

  it("show an empty result, and arguments that are not an object", () => {
    const turns = turnsOf([user("A"), call("a", "[1"), output("a", "")]);
    assert.deepEqual(turns[1]?.content, [use("a", { invalid: "[1" })]);
    assert.deepEqual(turns[2]?.content, [result("a", "(no output)")]);
  });

  it("rename ids of other vendors, the same in call and result", () => {
    const long = `call|${"x".repeat(80)}`;
    const turns = turnsOf([user("A"), call("a.b"), call("a|b"), call(long), output(long, "1")]);
    const ids = turns[1]?.content.map((block) => "toolUse" in block && block.toolUse.toolUseId);
    assert.deepEqual(ids?.slice(0, 2), ["a_b", "a_b_2"]);
    assert.ok(ids?.every((id) => /^[a-zA-Z0-9_-]{1,64}$/.test(String(id))));
    const answers = turns[2]?.content.map((block) => "toolResult" in block && block.toolResult);
    assert.deepEqual(
      answers?.map((answer) => (answer ? answer.toolUseId : undefined)),
      ids,
    );
  });

  it("have calls and results as text if the request has no tools", () => {
    const items = [user("A"), call("a", '{"path":"x"}'), output("a", "one"), user("Sum up.")];
    for (const asked of [{ tools: [] }, { tools: [READ], tool_choice: "none" as const }]) {
      const { messages, toolConfig } = encode({ items, ...asked });
      assert.equal(toolConfig, undefined);
      assert.deepEqual(messages.slice(1), [
        { role: "assistant", content: [{ text: '[Called read with {"path":"x"}]' }] },
        {
          role: "user",
          content: [{ text: "[Result of read]" }, { text: "one" }, { text: "Sum up." }],
        },
      ]);
    }
  });

  const developer = (content: string): Item => ({ type: "message", role: "developer", content });
  const instructed = {
    instructions: "One.",
    items: [developer("Two."), user("A"), developer("Three."), developer("Four.")],
  };

  it("put all system messages into the instructions, in order", () => {
    const { system, messages } = encode({ ...instructed, model: "amazon.nova-pro-v1:0" });
    const texts = ["One.", "Two.", "Three.", "Four."].map((text) => ({ text }));
    assert.deepEqual(system, texts);
    assert.deepEqual(messages, [{ role: "user", content: [{ text: "A" }] }]);
  });

  it("keep later system messages of Claude in place, which refuses thinking under changed instructions", () => {
    const model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
    const { system, messages } = encode({ ...instructed, model });
    assert.deepEqual(system, [{ text: "One." }, { text: "Two." }]);
    assert.deepEqual(messages[0]?.content, [
      { text: "A" },
      { text: "<system>\nThree.\n</system>" },
      { text: "<system>\nFour.\n</system>" },
    ]);
  });

  it("leave out what other vendors sealed or ran, and reasoning without anything after it", () => {
    const thought = (sealed: string): Item => ({
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Hm" }],
      encrypted_content: sealed,
    });
    const own = { maker: "", reasoningText: { text: "Hm", signature: "s" } };
    const foreign = { type: "anthropic:server_tool_use", block: {} } as unknown as Item;
    const items = [
      user("A"),
      thought("gAAAA-openai"),
      thought(seal("messages", { signature: "x" })),
      foreign,
      assistant("B"),
      thought(seal("bedrock", own)),
      user("C"),
    ];
    assert.deepEqual(turnsOf(items)[1], { role: "assistant", content: [{ text: "B" }] });
  });
});

describe("images, documents and sound", () => {
  const contentOf = (...content: ContentPart[]) =>
    encode({ items: [{ type: "message", role: "user", content }] }).messages[0]?.content;
  const image = (image_url: string): ContentPart => ({ type: "input_image", image_url });
  const file = (filename: string, file_data: string): ContentPart => ({
    type: "input_file",
    filename,
    file_data,
  });

  it("are sent as bytes, or by their S3 address", () => {
    assert.deepEqual(contentOf(image("data:image/jpg;base64,AAAA"), image("s3://b/c.webp")), [
      { image: { format: "jpeg", source: { bytes: "AAAA" } } },
      { image: { format: "webp", source: { s3Location: { uri: "s3://b/c.webp" } } } },
    ]);
    const audio: ContentPart = { type: "input_audio", data: "AAAA", format: "mp3" };
    assert.deepEqual(contentOf(audio), [{ audio: { format: "mp3", source: { bytes: "AAAA" } } }]);
  });

  it("have names that the API accepts, each once, and a text beside documents", () => {
    const content = contentOf(
      file("Jahres  bericht_2025.pdf", "data:application/pdf;base64,AAAA"),
      file("a.md", "QUFB"),
      file("a.md", "data:text/x-c,int%20a;"),
    );
    const source = { bytes: "AAAA" };
    assert.deepEqual(content, [
      { document: { format: "pdf", name: "Jahres bericht-2025", source } },
      { document: { format: "md", name: "a", source: { bytes: "QUFB" } } },
      {
        document: {
          format: "md",
          name: "a (2)",
          source: { bytes: Buffer.from("int a;").toString("base64") },
        },
      },
      { text: "(See the document.)" },
    ]);
  });

  it("are part of a tool's result", () => {
    const given = [{ type: "input_text", text: "Look:" }, image("data:image/png;base64,AAAA")];
    const turns = turnsOf([user("A"), call("a"), output("a", given as ContentPart[])]);
    const content = [{ text: "Look:" }, { image: { format: "png", source: { bytes: "AAAA" } } }];
    assert.deepEqual(turns[2]?.content, [{ toolResult: { toolUseId: "a", content } }]);
  });

  it("of a tool follow its result if the model accepts them only there", () => {
    const pdf = file("size.pdf", "data:application/pdf;base64,AAAA");
    const audio: ContentPart = { type: "input_audio", data: "AAAA", format: "mp3" };
    const document = { format: "pdf", name: "size", source: { bytes: "AAAA" } };
    const sound = { audio: { format: "mp3", source: { bytes: "AAAA" } } };
    const turnOf = (model: string, ...given: ContentPart[]) => {
      const outputs = [output("a", given), output("b", "2")];
      const items = [user("Hi"), call("a"), call("b"), ...outputs];
      return encode({ model, items, tools: [READ] }).messages[2]?.content;
    };
    const given = (...content: object[]) => ({ toolResult: { toolUseId: "a", content } });
    assert.deepEqual(turnOf("us.amazon.nova-pro-v1:0", { type: "input_text", text: "1" }, pdf), [
      given({ text: "1" }),
      result("b", "2"),
      { document },
      { text: "(See the document.)" },
    ]);
    assert.deepEqual(turnOf("us.amazon.nova-pro-v1:0", audio), [
      given({ text: "(It stands below.)" }),
      result("b", "2"),
      sound,
    ]);
    assert.deepEqual(turnOf("mistral.pixtral-large", pdf), [given({ document }), result("b", "2")]);
  });

  const refused: readonly [part: ContentPart, message: RegExp][] = [
    [image("https://x.org/a.png"), /not by URL/],
    [{ type: "input_image", file_id: "file_1" }, /not by file id/],
    [image("data:image/tiff;base64,AAAA"), /not `image\/tiff`/],
    [file("a.zip", "data:application/zip;base64,AAAA"), /not `a\.zip`/],
    [{ type: "input_audio", data: "AAAA" }, /WAV, MP3/],
  ];
  for (const [part, message] of refused) {
    it(`are refused before anything is sent: ${JSON.stringify(part)}`, () => {
      assert.throws(() => contentOf(part), { code: "invalid_request", message });
    });
  }
});
