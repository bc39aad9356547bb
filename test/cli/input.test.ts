import assert from "node:assert/strict";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { findFilesInPrompt, readUserMessage } from "../../src/cli/input.ts";
import type { Io } from "../../src/cli/io.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { createSandbox } from "../runtime/sandbox.ts";
import { createFakeIo } from "./fake-io.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1");

const PDF = Buffer.from("%PDF-1.7\n\xff", "latin1");

/** Files of a test's own, and a standard input. */
function setUp(
  t: TestContext,
  files: Readonly<Record<string, string | Uint8Array>> = {},
  piped?: string | Uint8Array,
): Io {
  const { home: cwd } = createSandbox(t);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  const stdin = {
    isTerminal: false,
    isPiped: piped !== undefined,
    readAll: async () => Buffer.from(piped ?? assert.fail("read")),
  };
  return createFakeIo({ cwd, stdin });
}

/** The text of the message, when that is all there is. */
async function textOf(words: readonly string[], io: Io, files: readonly string[] = []) {
  const { content } = await readUserMessage({ words, files }, io);
  const [part, ...more] = typeof content === "string" ? assert.fail() : content;
  assert.deepEqual(more, []);
  return part?.type === "input_text" ? part.text : assert.fail();
}

describe("a file that is named inside a prompt", () => {
  it("is said to be text, if there is such a file", async (t) => {
    const { cwd } = setUp(t, { "a.txt": "A", "b.txt": "B" });
    const cases: readonly [words: string[], found: string[]][] = [
      [["What is in @a.txt?"], ["a.txt"]],
      [["@a.txt and (@./b.txt), again @a.txt"], ["a.txt", "./b.txt"]],
      [["Explain", "@a.txt"], []],
      [["mail me@a.txt about @types/node and @nofile.txt"], []],
    ];
    for (const [words, found] of cases) {
      const notes = await findFilesInPrompt(words, cwd);
      assert.deepEqual(
        notes,
        found.map(
          (file) =>
            `\`@${file}\` inside the prompt is text. To send the file, write it outside of the quotes.`,
        ),
      );
    }
  });
});

describe("the user's message", () => {
  it("is the words after the command", async (t) => {
    const message = await readUserMessage({ words: ["Say", "hi"], files: [] }, setUp(t));
    assert.deepEqual(message, {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "Say hi" }],
    });
  });

  it("has files first, then the prompt, then standard input", async (t) => {
    const io = setUp(t, { "a.txt": "A\n", "b.txt": "B" }, "piped\n");
    const text = await textOf(["Compare", "@b.txt", "them"], io, ["a.txt"]);
    assert.equal(text, "--- a.txt ---\nA\n\n--- b.txt ---\nB\n\n---\n\nCompare them\n\npiped\n");
  });

  it("is standard input alone without a prompt", async (t) => {
    assert.equal(await textOf([], setUp(t, {}, "piped")), "piped");
  });

  it("takes `-` for standard input, and refuses it without any", async (t) => {
    assert.equal(await textOf(["-"], setUp(t, {}, "piped")), "piped");
    assert.equal(await textOf(["Say", "-", "it"], setUp(t, {}, "piped")), "Say it\n\npiped");
    await assert.rejects(textOf(["-"], setUp(t)), /nothing is piped in/);
  });

  it("ignores a blank standard input", async (t) => {
    assert.equal(await textOf(["Hi"], setUp(t, {}, " \n")), "Hi");
  });

  it("takes only a whole word for a file: not an address, not a phrase, not a lone @", async (t) => {
    const text = await textOf(["mail", "me@example.org", "@ noon", "@"], setUp(t));
    assert.equal(text, "mail me@example.org @ noon @");
  });

  it("has images and documents before the text", async (t) => {
    const io = setUp(t, { "i.bin": PNG, "d.txt": PDF, "a.txt": "A" });
    const message = await readUserMessage(
      { words: ["Look", "@a.txt", "@i.bin", "@d.txt"], files: [] },
      io,
    );
    assert.deepEqual(message.content, [
      {
        type: "input_image",
        image_url: `data:image/png;base64,${PNG.toString("base64")}`,
        detail: "auto",
      },
      {
        type: "input_file",
        filename: "d.txt",
        file_data: `data:application/pdf;base64,${PDF.toString("base64")}`,
      },
      { type: "input_text", text: "--- a.txt ---\nA\n\n---\n\nLook" },
    ]);
  });

  const refusals: readonly [
    name: string,
    words: readonly string[],
    piped: string | Uint8Array | undefined,
    message: RegExp,
  ][] = [
    ["no prompt", [], undefined, /^The prompt is empty\. Write it after the command/],
    ["a blank prompt", [" ", "\n"], "", /^The prompt is empty\./],
    ["files without a prompt", ["@a.txt"], undefined, /^There are files but no prompt\./],
    [
      "a file that is not there",
      ["Hi", "@no.txt"],
      undefined,
      /^There is no file `no\.txt`\. Check the name\.$/,
    ],
    ["a file below a file", ["Hi", "@a.txt/b"], undefined, /^There is no file `a\.txt\/b`\./],
    ["a folder", ["Hi", "@folder"], undefined, /^`folder` is a directory\. Name a file\.$/],
    [
      "a file that is not text",
      ["Hi", "@nul"],
      undefined,
      /^`nul` is neither text \(UTF-8\), nor an image, nor a PDF\.$/,
    ],
    ["a file in another encoding", ["Hi", "@latin"], undefined, /^`latin` is neither text/],
    ["a text that is too large", ["Hi", "@large"], undefined, /^`large` is larger than 16 MB\./],
    ["a file that is too large", ["Hi", "@huge"], undefined, /^`huge` is larger than 32 MB\./],
    [
      "standard input that is not text",
      ["Hi"],
      Buffer.from("a\0"),
      /^Standard input is neither text/,
    ],
  ];
  for (const [name, words, piped, message] of refusals) {
    it(`is refused before anything is sent: ${name}`, async (t) => {
      const io = setUp(
        t,
        { "a.txt": "A", nul: "a\0b", latin: Buffer.from("caf\xe9", "latin1"), large: "", huge: "" },
        piped,
      );
      mkdirSync(join(io.cwd, "folder"));
      // Sparse: these take no room and no time.
      truncateSync(join(io.cwd, "large"), 16 * 1024 * 1024 + 1);
      truncateSync(join(io.cwd, "huge"), 32 * 1024 * 1024 + 1);
      await assert.rejects(readUserMessage({ words, files: [] }, io), {
        code: "invalid_request",
        message,
      });
    });
  }

  it("passes on what is wrong with standard input", async (t) => {
    const stdin = {
      isTerminal: false,
      isPiped: true,
      readAll: async () => assert.fail("too much"),
    };
    const io = { ...setUp(t), stdin };
    await assert.rejects(readUserMessage({ words: ["Hi"], files: [] }, io), /too much/);
  });
});

describe("a pipe that is never closed", () => {
  it("is waited for, and after a moment a notice says so", async () => {
    const clock = createManualClock();
    let close: (bytes: Buffer) => void = () => {};
    const open = new Promise<Buffer>((resolve) => {
      close = resolve;
    });
    const io = createFakeIo({ stdin: { isTerminal: false, isPiped: true, readAll: () => open } });
    const reading = readUserMessage({ words: ["Hi"], files: [] }, io, clock);
    await clock.advance(1999);
    assert.equal(io.written.stderr, "");
    await clock.advance(1);
    assert.match(io.written.stderr, /waiting for standard input to end/);
    close(Buffer.from("late"));
    assert.match(JSON.stringify(await reading), /late/);
  });
});
