import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { renderCommandHelp, renderHelp } from "../../src/cli/help.ts";
import { PAYLOAD_FIELDS } from "../../src/delegation/runner/payload-fields.ts";

const pages = (columns?: number): string[] => [
  renderHelp(columns),
  ...Object.entries(COMMANDS).map(([name, command]) => renderCommandHelp(name, command, columns)),
];

const wordsOf = (text: string): string[] => text.split(/\s+/);

describe("help on a terminal", () => {
  for (const columns of [40, 60, 80, 120]) {
    it(`is broken at words, at ${columns} columns, and says the same`, () => {
      const whole = pages();
      for (const [at, page] of pages(columns).entries()) {
        assert.deepEqual(wordsOf(page), wordsOf(whole[at] ?? ""));
        for (const line of page.split("\n")) {
          const isOneWord = !line.trim().includes(" ");
          assert.ok(line.length <= columns || isOneWord, `${columns}: ${line}`);
        }
      }
    });
  }

  it("puts what a flag does below it if it does not fit beside it", () => {
    const run = COMMANDS["run"];
    assert.ok(run);
    const lines = renderCommandHelp("run", run, 40).split("\n");
    const at = lines.indexOf("  -q, --quiet");
    assert.equal(lines[at + 1], "      Only errors on standard error, and");
    assert.equal(lines[at + 2], "      the model if you chose none");
  });

  it("names every field that the runner reads", () => {
    const { subagent } = COMMANDS;
    assert.ok(subagent);
    const named = renderCommandHelp("subagent", subagent).matchAll(/^ {2}(\w+) {2,}\S/gm);
    const names = [...named].map(([, name]) => name);
    assert.deepEqual(names, Object.keys(PAYLOAD_FIELDS));
  });
});
