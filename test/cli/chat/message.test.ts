import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { readMessage } from "../../../src/cli/chat/message.ts";
import { createSandbox } from "../../runtime/sandbox.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");

function createFolder(t: TestContext) {
  const { cwd, home } = createSandbox(t);
  mkdirSync(join(cwd, "src"), { recursive: true });
  writeFileSync(join(cwd, "shot.png"), PNG);
  writeFileSync(join(cwd, "my shot.png"), PNG);
  writeFileSync(join(cwd, "paper.pdf"), "%PDF-1.7 x");
  writeFileSync(join(cwd, "src/a.ts"), "const a = 1;\n");
  writeFileSync(join(cwd, "broken.bin"), Buffer.from([0xff, 0xfe, 0, 1]));
  writeFileSync(join(home, "home.png"), PNG);
  return { cwd, home };
}

async function typesOf(words: string, io: { cwd: string; home: string }): Promise<string[]> {
  const { message } = await readMessage(words, "", io);
  assert.ok(typeof message.content !== "string");
  return message.content.map(({ type }) => type);
}

describe("the words of a person as a message", () => {
  for (const [name, words, types] of [
    ["no file", "what is shot.jpg, and user@host.png?", ["input_text"]],
    ["a picture by its path", "what is on shot.png ?", ["input_image", "input_text"]],
    ["a path in single quotes", "look at 'my shot.png'", ["input_image", "input_text"]],
    ["a path in double quotes", 'look at "my shot.png"', ["input_image", "input_text"]],
    ["a path with an escaped blank", "look at my\\ shot.png", ["input_image", "input_text"]],
    ["a path below the home folder", "look at ~/home.png", ["input_image", "input_text"]],
    ["a PDF", "sum up paper.pdf", ["input_file", "input_text"]],
    ["a picture after @", "@shot.png what is it?", ["input_image", "input_text"]],
    ["a picture after @ in quotes", '@"my shot.png" what is it?', ["input_image", "input_text"]],
    ["a text after @, once", "compare @src/a.ts, with @src/a.ts.", ["input_text"]],
    ["a folder after @", "what is in @src ?", ["input_text"]],
  ] as const) {
    it(`includes what it names: ${name}`, async (t) => {
      assert.deepEqual(await typesOf(words, createFolder(t)), types);
    });
  }

  it("has texts of files and outputs of commands before the words", async (t) => {
    const io = createFolder(t);
    const { message, notes } = await readMessage("explain @src/a.ts", "I ran `ls`", io);
    assert.deepEqual(notes, ["with src/a.ts"]);
    const content = [
      {
        type: "input_text",
        text: "--- src/a.ts ---\nconst a = 1;\n\nI ran `ls`\n\n---\n\nexplain @src/a.ts",
      },
    ];
    assert.deepEqual(message, { type: "message", role: "user", content });
  });

  it("is refused if a file that it names cannot be sent", async (t) => {
    await assert.rejects(readMessage("what is @broken.bin", "", createFolder(t)), {
      message: "`broken.bin` is neither text (UTF-8), nor an image, nor a PDF.",
    });
  });
});
