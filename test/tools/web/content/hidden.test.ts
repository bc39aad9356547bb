import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isHiddenStyle, isHiddenTag } from "../../../../src/tools/web/content/hidden.ts";

describe("isHiddenStyle", () => {
  for (const style of [
    "display:none",
    "color: red; DISPLAY : none !important",
    "display:/* x */none",
    "visibility:hidden",
    "font-size:0",
    "font-size: 0px; color: blue",
    "font-size:1px",
    "font-size:0.1px",
    "position:absolute; left:-9999px",
    "text-indent:-10000em",
    "clip: rect(0 0 0 0)",
    "clip-path: inset(100%)",
    "height:0;overflow:hidden",
    "width: 1px; height: 1px; overflow: hidden",
    "transform: scale(0)",
    "color: transparent",
    "color: rgba(0, 0, 0, 0)",
  ]) {
    it(`finds ${style}`, () => assert.ok(isHiddenStyle(style)));
  }

  for (const style of [
    "",
    "display:block",
    "font-size:10px",
    "font-size:0.9em; x:y",
    "margin-left:-15px",
    "height:0",
    "opacity:0",
    "background-color:transparent",
    "transform:scale(0.5)",
  ]) {
    it(`lets ${style || "no style"} through`, () => assert.ok(!isHiddenStyle(style)));
  }
});

describe("comments in a style", () => {
  for (const [style, expected] of [
    ["dis/* a */play:none", true],
    ["/* a\n/* b */display:none", true],
    ["color:red;/* display:none */", false],
    ["/* display:none", false],
    ["/* a */;display:none", true],
  ] as const) {
    it(`are skipped in ${JSON.stringify(style)}`, () => {
      assert.equal(isHiddenStyle(style), expected);
    });
  }
});

describe("isHiddenTag", () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["<p hidden>", true],
    ['<p hidden="until-found">', false],
    ['<p class="a"hidden>', true],
    ["<p aria-hidden='true'>", true],
    ["<p aria-hidden=false>", false],
    ["<p style='display:none'>", true],
    ["<p style=display:none>", true],
    ['<p class="hidden">', false],
    ["<p data-style='display:none'>", false],
    ["<p>", false],
  ];
  for (const [tag, expected] of rows) {
    it(`${expected ? "finds" : "lets through"} ${tag}`, () => {
      assert.equal(isHiddenTag(tag), expected);
    });
  }
});
