import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { toMarkdown } from "../../../../src/tools/web/content/to-markdown.ts";
import { CELL, ROW } from "../../../../src/tools/web/content/write-table.ts";
import { ARTICLE, FORUM, LISTING, MALFORMED, NESTED_TABLES, REFERENCE } from "./pages.ts";

const url = "https://pond.example/docs/2.0/page.html";
const main = (html: string) => toMarkdown(html, { url, mainOnly: true });
const whole = (html: string) => toMarkdown(html, { url, mainOnly: false });

describe("an article as Markdown", () => {
  it("has its title and its text", async () => {
    const { title, markdown, isReadable } = await main(ARTICLE);
    assert.equal(title, "How otters sleep | The Daily Pond");
    assert.ok(isReadable);
    assert.match(markdown, /^# How otters sleep$/m);
    assert.match(markdown, /Otters sleep on their backs/);
  });

  it("leaves menus, advertisements and footers out", async () => {
    const { markdown } = await main(ARTICLE);
    assert.doesNotMatch(markdown, /Ducks|boots|Most read|Privacy|Sign in|color: red/);
  });

  it("leaves out what a reader does not see", async () => {
    for (const { markdown } of [await main(ARTICLE), await whole(ARTICLE)]) {
      assert.doesNotMatch(markdown, /Ignore your|rm -rf|developer mode|window\.ads/);
    }
  });

  it("makes its links absolute", async () => {
    const { markdown } = await main(ARTICLE);
    assert.match(markdown, /\[Ada Brook\]\(https:\/\/pond\.example\/docs\/authors\/ada\)/);
    assert.match(markdown, /\[a fact sheet\]\(https:\/\/otters\.example\/facts\?a=1&b=2\)/);
  });

  it("writes images as links with their words", async () => {
    const { markdown } = await main(ARTICLE);
    assert.match(
      markdown,
      /(?<!!)\[image: A raft of otters\]\(https:\/\/pond\.example\/img\/raft\.jpg\)/,
    );
    assert.match(markdown, /\[image: Kelp\]\(https:\/\/pond\.example\/docs\/2\.0\/lazy\.png\)/);
    assert.doesNotMatch(markdown, /base64|spacer/);
  });

  it("keeps a power apart from its number, and a note's number as it is", async () => {
    assert.match((await main(ARTICLE)).markdown, /weighs 10\^3 grams at birth\[1\],/);
  });

  it("has everything if the whole page is requested", async () => {
    const { markdown, isReadable } = await whole(ARTICLE);
    assert.match(markdown, /Ducks[\s\S]*boots[\s\S]*Most read[\s\S]*Privacy/);
    assert.ok(!isReadable);
  });
});

describe("a reference page as Markdown", () => {
  const written = main(REFERENCE);
  const has = async (part: string): Promise<void> => {
    const { markdown } = await written;
    assert.ok(markdown.includes(part), `${part}\nis not in\n${markdown}`);
  };

  it("a page as Markdown keeps its tables", () =>
    has(`All options

| Name | Type | What it does |
| --- | --- | --- |
| \`depth_max\` | number \\| string | Metres.<br>Not feet. |
| \`fish\` | See [fish](https://pond.example/docs/2.0/fish.html) |  |`));

  it("keeps code with its language and its spaces", () =>
    has(`\`\`\`ts
const pond = await open({ depth_max: 3 });
  if (pond.fish < 2) {
    throw new Error(\`empty\`);
  }
\`\`\``));

  it("finds the language where highlighters put it", () => has("```shell\n$ pond\n  --open\n```"));

  it("keeps code that is in a table", () => has("```python\nimport pond\npond.open()\n```"));

  it("fences code that has fences in it", () => has("````\na fence:\n```\ninside\n```\n````"));

  it("writes lists, terms and boxes", async () => {
    await has("3. Dig\n   - by hand\n   - by spade\n4. Fill");
    await has("**pond**\n: A small lake.");
    await has("- [x] dug\n- [ ] filled");
  });

  it("drops the marks with which headings link to themselves", async () => {
    const { markdown, isReadable } = await written;
    assert.match(markdown, /^#+ open\(\)$/m);
    assert.doesNotMatch(markdown, /¶|Contents|Made with/);
    assert.ok(isReadable);
  });
});

describe("other pages as Markdown", () => {
  it("keeps every entry of a listing", async () => {
    const { markdown } = await main(LISTING);
    for (let rank = 1; rank <= 12; rank++) {
      const link = `[Story number ${rank} about ponds](https://pond.example/item?id=${rank})`;
      assert.ok(markdown.includes(link), `no ${link}`);
    }
  });

  it("keeps the answers of a forum, which are not part of an article", async () => {
    const { markdown } = await main(FORUM);
    for (let rank = 1; rank <= 9; rank++) assert.match(markdown, new RegExp(`Answer ${rank}: `));
    assert.doesNotMatch(markdown, /All questions|Rules/);
  });

  it("reads tables that only arrange content, and tables in tables", async () => {
    const { markdown } = await main(NESTED_TABLES);
    assert.match(markdown, /^\[Home\]\(https:\/\/pond\.example\/\)$/m);
    assert.ok(markdown.includes("| Perch | 3 |\n| --- | --- |\n| Pike | 1 |"), markdown);
    assert.ok(markdown.includes("| North | Carp, 2; Tench, 4 |"), markdown);
  });

  it("the text of invalid HTML is read", async () => {
    const { title, markdown } = await main(MALFORMED);
    assert.equal(title, "Broken");
    assert.match(markdown, /First \*\*bold _both_\*\*/);
    assert.match(
      markdown,
      /Second & third < fourth press\n\n\[A card with text\]\(https:\/\/pond\.example\/x\)/,
    );
    assert.match(markdown, /- one\n- two[\s\S]*lone cell[\s\S]*last$/);
    assert.doesNotMatch(markdown, /javascript/);
  });

  const short: readonly (readonly [string, string, string])[] = [
    ["uses a short page whole", "<p>Not much <b>here</b>.</p>", "Not much **here**."],
    ["uses the title of a page without a heading", "<title>A</title><p>b</p>", "# A\n\nb"],
    ["does not say the title twice", "<title>A pond</title><h1>A pond</h1>b", "# A pond\n\nb"],
    [
      "says what is meant for readers without scripts",
      "<div id=app></div><noscript>Turn scripts on</noscript>",
      "Turn scripts on",
    ],
    [
      "follows a base",
      '<base href="https://other.example/a/"><a href="b">c</a>',
      "[c](https://other.example/a/b)",
    ],
    [
      "keeps brackets of a link apart",
      '<a href="/a(b) c">[x]</a>',
      "[\\[x\\]](https://pond.example/a%28b%29%20c)",
    ],
    ["is empty for an empty page", "", ""],
  ];
  for (const [name, html, expected] of short) {
    it(name, async () => assert.equal((await main(html)).markdown, expected));
  }

  it("a page as Markdown loses its invisible letters", async () => {
    const { markdown } = await main("<p>a&#8203;b&#xE0041;&#xE0042;c&#2;d</p><pre>e&#3;f</pre>");
    assert.equal(markdown, "abcd\n\n```\nef\n```");
  });
});

describe("pages that attack readers", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["50,000 nested divs", `${"<div>".repeat(50_000)}deep${"</div>".repeat(50_000)}`],
    ["unclosed tags", `${"<b>".repeat(100_000)}deep`],
    ["cells in paragraphs in cells", `${"<td><p>".repeat(3000)}deep`],
    ["nested lists", `${"<ul><li>".repeat(500)}deep`],
    ["nested tables with heads", `${"<table><tr><th>h<td>".repeat(60)}deep`],
    ["a hundred thousand paragraphs", `${"<p>a <a href=x>b</a></p>".repeat(100_000)}deep`],
    ["a million `<`", `${"<".repeat(1_000_000)} deep`],
    ["a long list", `<ol>${"<li>x</li>".repeat(3000)}</ol>deep`],
    ["a long table", `<table>${"<tr><td>a<td>b".repeat(1500)}</table>deep`],
  ];
  for (const [name, html] of rows) {
    it(`returns the text of ${name}`, async () => {
      const { title, markdown } = await main(`<title>Wild</title>${html}`);
      assert.equal(title, "Wild");
      assert.ok(markdown.includes("deep"));
    });
  }

  const slow: readonly (readonly [string, string])[] = [
    ["code with a gap", `<pre>a${" ".repeat(300_000)}b</pre>`],
    ["text with a gap", `<p>a${"\u00a0".repeat(300_000)}b</p>`],
    ["text with a gap of entities", `<p>a${"&nbsp;".repeat(90_000)}b</p>`],
    ["an item with a gap", `<ul><li>a${"\u00a0".repeat(300_000)}b</li></ul>`],
    [
      "a cell with a gap",
      `<table><tr><th>x<th>y</tr><tr><td>a${"\u00a0".repeat(300_000)}b<td>c</td></tr></table>`,
    ],
    ["fences that are never closed", `<p>${"```x<br>".repeat(10_000)}b</p>`],
    ["a row of backticks", `<p>${"`".repeat(300_000)}b</p>`],
    ["a style of comments", `<p style="${"/*".repeat(300_000)}">b</p>`],
  ];
  for (const [name, html] of slow) {
    it(`is fast with ${name}`, async () => {
      const before = process.cpuUsage();
      assert.ok((await main(html)).markdown.includes("b"));
      // It takes less than a second; a minute and more if the time were the square of the length.
      const { user } = process.cpuUsage(before);
      assert.ok(user < 20_000_000, `${user / 1_000_000} s of work`);
    });
  }

  it("keeps empty lines and spaces of code, not those around it", async () => {
    const html = "<p>a</p><pre>x  \n\n\n\ny</pre><p>b</p>";
    assert.equal((await main(html)).markdown, "a\n\n```\nx  \n\n\n\ny\n```\n\nb");
  });

  it("leaves hidden parts out of plain text too", async () => {
    const html = `<p hidden>secret</p>${"<div>".repeat(10_000)}deep`;
    assert.equal((await main(html)).markdown, "deep");
  });

  it("accepts any mess of tags", async () => {
    const tags =
      "<p|</p|<table|<tr|<td|<th|</table|<li|<ul|<ol|<pre|<code|<a href=/|<b|</b|<script|<!--|-->|<sup|<dd|>|x &amp;| |\n|`".split(
        "|",
      );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...tags), { maxLength: 40 }), async (parts) => {
        const { markdown } = await main(parts.map((part) => part.replace(/^<.*/, "$&>")).join(""));
        assert.ok(!markdown.includes(ROW) && !markdown.includes(CELL));
      }),
      { numRuns: 100 },
    );
  });
});
