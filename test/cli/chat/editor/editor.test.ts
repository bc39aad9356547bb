import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Editor } from "../../../../src/cli/chat/editor/editor.ts";
import { History } from "../../../../src/cli/chat/editor/history.ts";
import { layOutEditor } from "../../../../src/cli/chat/editor/layout.ts";
import { plainRow, textOf, widthOfRow } from "../../../../src/cli/screen/rows.ts";
import { graphemesOf } from "../../../../src/cli/screen/width.ts";

const DEEDS: Readonly<Record<string, (editor: Editor) => void>> = {
  type: (editor) => editor.type("aé漢"),
  break: (editor) => editor.type("\n"),
  emoji: (editor) => editor.type("👨‍👩‍👧"),
  paste: (editor) => editor.paste("x\n".repeat(30)),
  left: (editor) => editor.move("left"),
  wordLeft: (editor) => editor.move("word-left"),
  lineStart: (editor) => editor.move("line-start"),
  end: (editor) => editor.move("end"),
  backspace: (editor) => editor.delete("left"),
  killEnd: (editor) => editor.kill("line-end"),
  killWord: (editor) => editor.kill("word-left"),
  yank: (editor) => editor.yank(),
  yankPop: (editor) => editor.yankPop(),
  unfold: (editor) => void editor.unfoldOne(),
};
const deeds = fc.array(fc.constantFrom(...Object.keys(DEEDS)), { maxLength: 40 });

describe("the editor", () => {
  it("undoes everything to the beginning, and does it again", () => {
    fc.assert(
      fc.property(deeds, (names) => {
        const editor = new Editor();
        for (const name of names) DEEDS[name]?.(editor);
        const { text } = editor;
        for (let at = 0; at < 100; at++) editor.undo();
        assert.equal(editor.text, "");
        for (let at = 0; at < 100; at++) editor.redo();
        assert.equal(editor.text, text);
      }),
    );
  });

  it("has its caret between graphemes, and its rows within the screen", () => {
    fc.assert(
      fc.property(deeds, fc.integer({ min: 10, max: 40 }), (names, columns) => {
        const editor = new Editor();
        for (const name of names) DEEDS[name]?.(editor);
        const before = graphemesOf(editor.text.slice(0, editor.caret)).length;
        const after = graphemesOf(editor.text.slice(editor.caret)).length;
        assert.equal(before + after, graphemesOf(editor.text).length);
        const room = { columns, maxRows: 5, prompt: plainRow("> "), margin: plainRow("  ") };
        const { rows, caret } = layOutEditor(editor, editor.folds, room);
        assert.ok(rows.length <= 5 && caret.row < rows.length);
        const shown = rows[caret.row] ?? [];
        assert.ok(textOf(shown).startsWith(textOf(caret.before)));
        const fits = rows.every(
          (row) => widthOfRow(row) < columns || textOf(row).includes("[paste"),
        );
        assert.ok(fits, rows.map(textOf).join("\n"));
      }),
    );
  });

  it("sends a folded paste whole, and folds it again when it comes back", () => {
    const editor = new Editor();
    const long = Array.from({ length: 10_000 }, (_, at) => `line ${at}`).join("\n");
    editor.type("look: ");
    editor.paste(long);
    assert.equal(editor.whole, `look: ${long}`);
    assert.equal(graphemesOf(editor.text).length, 7);
    const sent = editor.whole;
    editor.replace("");
    editor.replace(sent);
    assert.equal(graphemesOf(editor.text).length, 7);
    editor.unfoldOne();
    assert.equal(editor.text, sent);
  });

  it("goes through the history and back to what was being written", () => {
    const history = new History(["one", "two words"]);
    assert.equal(history.back("draft"), "two words");
    assert.equal(history.back("two words"), "one");
    assert.equal(history.back("one"), undefined);
    assert.equal(history.forth(), "two words");
    assert.equal(history.forth(), "draft");
    assert.deepEqual(history.search("WORD"), { at: 1, text: "two words" });
    assert.equal(history.search("one", 0), undefined);
  });
});
