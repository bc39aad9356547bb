import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  createMarkdownStream,
  type MarkdownRoom,
} from "../../../../src/cli/screen/markdown/markdown-stream.ts";
import { paintRow, type Row, textOf, widthOfRow } from "../../../../src/cli/screen/rows.ts";

const ROOM: MarkdownRoom = { columns: 41, maxOpen: 6, isStyled: true };

/** The finished rows of a text that comes in these pieces. */
function render(pieces: readonly string[], room = ROOM): Row[] {
  const stream = createMarkdownStream();
  const rows: Row[] = [];
  for (const piece of pieces) {
    stream.push(piece);
    const { finished, open } = stream.take(room);
    rows.push(...finished.map(({ row }) => row));
    assert.ok(open.length <= room.maxOpen, `${open.length} rows are open`);
    for (const row of open) assert.ok(widthOfRow(row) < room.columns, textOf(row));
  }
  stream.end();
  const { finished, open } = stream.take(room);
  assert.deepEqual(open, []);
  return [...rows, ...finished.map(({ row }) => row)];
}

const texts = (markdown: string, room = ROOM): string[] => render([markdown], room).map(textOf);
const painted = (markdown: string): string[] =>
  render([markdown]).map((row) => paintRow(row, true));

describe("Markdown on a terminal", () => {
  it("shows headings, points, quotes and rules", () => {
    const source =
      "# Title\n\n- one\n- two words that are longer than a row of it\n1. first\n> said\n\n---";
    assert.deepEqual(texts(source), [
      "Title",
      "",
      "• one",
      "• two words that are longer than a row",
      "  of it",
      "1. first",
      "│ said",
      "",
      "─".repeat(40),
    ]);
  });

  it("shows strong, emphasis, code, strike and links by their styles", () => {
    assert.deepEqual(painted("a **b** *c* `d` ~~e~~ [f](http://g)"), [
      "a \x1b[1mb\x1b[m \x1b[3mc\x1b[m \x1b[36md\x1b[m \x1b[9me\x1b[m \x1b[4;34mf\x1b[m\x1b[2m (http://g)\x1b[m",
    ]);
  });

  it("leaves signs without a meaning unchanged", () => {
    const plain = "2 * 3 * 4, snake_case_name, a ~ b, 5 ** 2, `open, **never closed, \\*escaped\\*";
    assert.equal(
      texts(plain, { ...ROOM, columns: 200 })[0],
      "2 * 3 * 4, snake_case_name, a ~ b, 5 ** 2, `open, **never closed, *escaped*",
    );
  });

  it("keeps code as it is, with colours, and breaks none of its lines", () => {
    const long = `const x = "${"y".repeat(100)}";`;
    const source = `\`\`\`ts\n  // why\n${long}\n\`\`\`\nafter`;
    assert.deepEqual(texts(source), ["```ts", "  // why", long, "```", "after"]);
    assert.ok(painted(source)[2]?.startsWith("\x1b[35mconst\x1b[m"));
  });

  it("lays a table out, and breaks its cells if they do not fit", () => {
    const source =
      "| name | what |\n|---|--:|\n| a | 1 |\n| bb | a longer cell that has to be broken |\n\nend";
    assert.deepEqual(texts(source, { ...ROOM, columns: 31 }), [
      "name │                    what",
      `─────┼${"─".repeat(24)}`,
      "a    │                       1",
      "bb   │  a longer cell that has",
      "     │            to be broken",
      "",
      "end",
    ]);
  });

  it("shows a table with more columns than the screen has room for as text, no row wider than that", () => {
    const source = `|${" name |".repeat(12)}\n|${"---|".repeat(12)}\n|${" cell |".repeat(12)}\n\nend`;
    const rows = texts(source);
    assert.deepEqual(rows.slice(0, 2), [
      "name │ name │ name │ name │ name │ name",
      "│ name │ name │ name │ name │ name │",
    ]);
    for (const row of rows) assert.ok(row.length < ROOM.columns, row);
    const words = rows.join(" ").match(/name|cell/g) ?? [];
    assert.equal(words.length, 24);
  });

  it("makes the rows of a long table narrower where the screen becomes so", () => {
    const stream = createMarkdownStream();
    const cell = "words that are long";
    stream.push(`| a | b |\n|---|---|\n${`| ${cell} | ${cell} |\n`.repeat(30)}`);
    stream.take({ ...ROOM, columns: 100 });
    stream.push(`| ${cell} | ${cell} |\n`.repeat(3));
    for (const columns of [30, 8]) {
      stream.push(`| ${cell} | ${cell} |\n`);
      const { finished } = stream.take({ ...ROOM, columns });
      assert.ok(finished.length > 0);
      for (const { row } of finished) assert.ok(widthOfRow(row) < columns, textOf(row));
    }
  });

  it("has one pen for a mark that begins again and again and never ends", () => {
    const [row = ""] = painted("**b _i *i ".repeat(2000));
    assert.ok(row.length < 2 * ROOM.columns, `${row.length} bytes for a row`);
    const stream = createMarkdownStream();
    for (let at = 0; at < 500; at++) {
      stream.push("*a **b _c __d ~~e ".repeat(20));
      const { finished, open } = stream.take(ROOM);
      for (const one of [...finished.map((line) => line.row), ...open])
        assert.ok(paintRow(one, true).length < 10 * ROOM.columns, paintRow(one, true));
    }
  });

  it("lets no control character and no sequence through", () => {
    const source =
      "a\x1b[31mred\x1b]0;title\x07 \x9b2J\u202eb\r\n```\n\x1b[2Jcode\x08\n```\n| \x1b[1mx |\n|---|\n";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
    for (const text of texts(source)) assert.doesNotMatch(text, /[\x00-\x1f\x7f-\x9f\u202e]/);
  });

  it("prints the rows of a long line before it ends, with its open styles", () => {
    const stream = createMarkdownStream();
    stream.push(`**${"bold ".repeat(20)}end** and ${"plain ".repeat(20)}`);
    const { finished, open } = stream.take(ROOM);
    assert.ok(finished.length > 4);
    assert.ok(open.length <= 2);
    assert.ok(finished.slice(0, 2).every(({ row }) => row.every(({ pen }) => pen === "1")));
  });

  it("is the same text however it comes in", () => {
    const part = fc.constantFrom(
      ..."a|word|**|*|_|`|```\n|\n|\n\n|# |- |> |1. | \\*|[x](http://y)|漢字|😀|~~|long words to fill rows".split(
        "|",
      ),
      "| a | b |\n",
      "|---|---|\n",
      " ",
    );
    // Without the signs of quotes, headings and marks: a row that was printed does not know what ends after it.
    const visible = (rows: readonly Row[]): string =>
      rows
        .map(textOf)
        .join("")
        .replace(/[\s│>#*_~`]/g, "");
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 60 }),
        fc.integer({ min: 12, max: 60 }),
        (parts, columns) => {
          const room = { columns, maxOpen: 50, isStyled: false };
          const whole = render([parts.join("")], room);
          const pieces = render(parts.join("").split(""), room);
          assert.equal(visible(pieces), visible(whole));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("waits for the second star if one looks like an end of the emphasis", () => {
    const room = { columns: 12, maxOpen: 50, isStyled: false };
    const text = "*long words to fill rows**";
    assert.deepEqual(render(text.split(""), room).map(textOf), render([text], room).map(textOf));
  });

  it("loses no word if the open part has little room", () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    const text = fc.array(fc.oneof(word, fc.constantFrom("\n", "\n- ", "`x y`", "[l](http://m)")), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 8, max: 40 }),
        (words, maxOpen, columns) => {
          const source = words.join(" ");
          const rows = render(source.split(/(?<= )/), { columns, maxOpen, isStyled: false });
          const letters = (all: string): string => all.replace(/[^a-z]/g, "");
          assert.equal(letters(rows.map(textOf).join("")), letters(source));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("takes work that is linear: a line of 200,000 characters, and 20,000 lines", () => {
    const line = "some **bold** words and `code` ".repeat(6500);
    assert.ok(render(line.match(/.{1,40}/gs) ?? []).length > 2500);
    const lines = "- a point of a list\n".repeat(20_000);
    assert.equal(render(lines.match(/.{1,200}/gs) ?? []).length, 20_000);
  });
});
