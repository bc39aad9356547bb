import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createKeyDecoder, type Typed, toChord } from "../../../src/cli/screen/keys.ts";

function decode(...pieces: readonly string[]): Typed[] {
  const decoder = createKeyDecoder();
  const typed = pieces.flatMap((piece) => decoder.feed(piece));
  return [...typed, ...decoder.flush()];
}

/** `ctrl-alt-x`, `"text"`, `<paste>`. */
function toShort(typed: Typed): string {
  if (typed.type === "text") return JSON.stringify(typed.text);
  if (typed.type === "paste") return `<${typed.text}>`;
  return toChord(typed);
}

const CASES: readonly (readonly [bytes: string, keys: readonly string[]])[] = [
  ["hello", ['"hello"']],
  ["\r", ["enter"]],
  ["\n", ["ctrl-j"]],
  ["\t", ["tab"]],
  ["\x7f", ["backspace"]],
  ["\x03", ["ctrl-c"]],
  ["\x1f", ["ctrl-_"]],
  ["\x1b", ["escape"]],
  ["\x1b\x1b", ["escape", "escape"]],
  ["\x1bb", ["alt-b"]],
  ["\x1bB", ["alt-shift-b"]],
  ["\x1b\r", ["alt-enter"]],
  ["\x1b\x7f", ["alt-backspace"]],
  ["\x1b[A", ["up"]],
  ["\x1bOA", ["up"]],
  ["\x1b[1;5C", ["ctrl-right"]],
  ["\x1b[1;3D", ["alt-left"]],
  ["\x1b[H", ["home"]],
  ["\x1b[4~", ["end"]],
  ["\x1b[3~", ["delete"]],
  ["\x1b[3;5~", ["ctrl-delete"]],
  ["\x1b[Z", ["shift-tab"]],
  // Kitty.
  ["\x1b[13;2u", ["shift-enter"]],
  ["\x1b[99;5u", ["ctrl-c"]],
  ["\x1b[99;5:3u", []],
  ["\x1b[27u", ["escape"]],
  ["\x1b[97:65;2u", ['"A"']],
  ["\x1b[97;1;228u", ['"ä"']],
  ["\x1b[57358u", []],
  ["\x1b[32;5u", ["ctrl-space"]],
  // modifyOtherKeys.
  ["\x1b[27;2;13~", ["shift-enter"]],
  ["\x1b[27;5;105~", ["ctrl-i"]],
  // Answers of the terminal, focus, and unknown sequences.
  ["\x1b[?62;4c", []],
  ["\x1b]11;rgb:0/0/0\x07x", ['"x"']],
  ["\x1bP>|xterm\x1b\\x", ['"x"']],
  ["\x1b[I", []],
  ["\x1b[1;1R", ["f3"]],
  ["\x1b[999z", []],
  ["äあ😀", ['"äあ😀"']],
  ["\x1b[200~two\rlines\r\n\x1b[31mred\x03\x1b[201~x", ["<two\nlines\nred>", '"x"']],
];

describe("keys", () => {
  for (const [bytes, keys] of CASES) {
    it(`reads ${JSON.stringify(bytes)} as ${keys.join(", ") || "nothing"}`, () => {
      assert.deepEqual(decode(bytes).map(toShort), keys);
    });
  }

  it("reads the same wherever the pieces end", () => {
    const all = CASES.map(([bytes]) => bytes).filter(
      (bytes) => bytes.replaceAll("\x1b", "") !== "",
    );
    fc.assert(
      fc.property(
        fc.shuffledSubarray(all),
        fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
        (some, sizes) => {
          const bytes = some.join("");
          const pieces: string[] = [];
          // Streams decode UTF-8 before they hand pieces on: none ends in a character.
          for (const characters = [...bytes]; characters.length > 0; ) {
            pieces.push(characters.splice(0, sizes.next().value ?? 1).join(""));
          }
          assert.equal(join(decode(...pieces)), join(decode(bytes)));
        },
      ),
    );
  });

  it("never makes text of a sequence, whatever comes", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (pieces) => {
        for (const typed of decode(...pieces)) {
          if (typed.type !== "key")
            assert.doesNotMatch(typed.text.replace(/[\n\t]/g, ""), /\p{Cc}/u);
        }
      }),
    );
  });

  it("ends a paste whose end was lost at Ctrl-C, and continues", () => {
    const decoder = createKeyDecoder();
    assert.deepEqual(decoder.feed("\x1b[200~pasted \x03 words\x1b[20"), []);
    assert.deepEqual(decoder.feed("\x03"), [{ type: "paste", text: "pasted  words[20" }]);
    assert.deepEqual(decoder.feed("a").map(toShort), ['"a"']);
  });

  it("takes a paste of ten megabytes in pieces, in linear time", () => {
    const line = `${"x".repeat(99)}\n`;
    const decoder = createKeyDecoder();
    decoder.feed("\x1b[200~");
    for (let at = 0; at < 100_000; at++) assert.deepEqual(decoder.feed(line), []);
    const [typed] = decoder.feed("\x1b[201~");
    assert.equal(typed?.type === "paste" && typed.text.length, 10_000_000);
  });

  it("leaves an escape open until it is known what it is", () => {
    const decoder = createKeyDecoder();
    assert.deepEqual(decoder.feed("\x1b"), []);
    assert.ok(decoder.isOpen);
    assert.deepEqual(decoder.feed("[A").map(toShort), ["up"]);
    assert.ok(!decoder.isOpen);
  });
});

/** Texts that come in pieces are one. */
function join(typed: readonly Typed[]): string {
  return typed.map(toShort).join(" ").replaceAll('" "', "");
}
