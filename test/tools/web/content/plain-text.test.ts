import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cleanText, toLine, toPlainText } from "../../../../src/tools/web/content/plain-text.ts";

describe("toPlainText", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["breaks lines at blocks", "<p>one</p><p>two<br>three</p>", "one\n\ntwo\nthree"],
    ["sets cells apart", "<tr><td>a</td><td>b</td></tr>", "a b"],
    ["leaves out scripts and styles", "a<script>if (1 < 2) b()</script><style>c{}</style>d", "ad"],
    ["leaves out a script that never ends", "a<script>b", "a"],
    ["leaves out comments", "a<!-- b <p> -->c<!-- d", "ac"],
    [
      "leaves out hidden parts",
      '<p>a</p><div style="display: none"><div>b</div>c</div>d',
      "a\n\nd",
    ],
    ["leaves out what is hidden from everyone", "a<b aria-hidden=true>b</b><i hidden>c</i>d", "ad"],
    ["reads a quoted `>`", '<a title="1 > 0">a</a>', "a"],
    ["keeps a lone `<`", "1 < 2 and 3<4", "1 < 2 and 3<4"],
    [
      "decodes entities",
      "&lt;a&gt; &amp;amp; &#233;&#xE9; &eacute;&nbsp;&unknown;",
      "<a> &amp; éé é &unknown;",
    ],
    ["survives entities out of range", "&#0;&#xD800;&#1114112;", "\ufffd\ufffd\ufffd"],
    ["keeps no run of spaces", "a \t b\n\n\n\n c", "a b\n\nc"],
  ];
  for (const [name, html, expected] of rows) {
    it(name, () => assert.equal(toPlainText(html), expected));
  }

  it("accepts megabytes of half-open tags", () => {
    for (const piece of ["<", "<a '", "<!--", "<script>", "<div hidden>", "</", "&#"]) {
      const html = piece.repeat(1_000_000 / piece.length);
      assert.ok(toPlainText(html).length <= html.length, piece);
    }
  });
});

describe("toLine", () => {
  it("returns one line without tags", () => {
    assert.equal(toLine("A <b>bold</b>\n<p>claim&hellip;</p>"), "A bold claim…");
  });
});

describe("cleanText", () => {
  it("plain text loses its invisible letters", () => {
    const tagged = [..."ignore"].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0)));
    assert.equal(cleanText(`a${tagged.join("")}b\u200b\u202ec\u0007\u001b[31md`), "abc[31md");
  });

  it("keeps joiners, lines and tabs", () => {
    const text = "👩\u200d🚀 می\u200cخواهم\n\tx";
    assert.equal(cleanText(text), text);
  });
});
