/** Plans of the intents that change something, with tools whose outputs come from a table. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { argumentsOf, ask, listen, type Play, run, tool } from "./replies.ts";

interface Flow {
  readonly request: string;
  readonly calls: readonly (readonly [string, JsonObject])[];
  /** The outputs of the tools, in the order of the calls. */
  readonly outputs: readonly (string | JsonObject | readonly JsonObject[])[];
  readonly answer: string | RegExp;
  /** True if it could not be done, so that the text is a refusal. */
  readonly refused?: true;
}

const WROTE = { success: true, path: "x", old_lines: 0, new_lines: 1, is_new_file: true };
const EDITED = { success: true, path: "x", start_line: 3, old_line_count: 1, new_line_count: 1 };
const SHELL = { exit_code: 0, stdout: "clean\n", error: null };
const TERMINAL = { stdout: "built\n", stderr: "warned\n", exit_code: 2, timed_out: false };
const PYTHON = { stdout: "", stderr: "", result: null };
const PAGE = {
  url: "https://example.org/",
  status: 200,
  title: "T",
  content: "Words.",
  truncated: false,
};

const FLOWS: readonly Flow[] = [
  {
    request: 'write "Hello, World" to notes.txt',
    calls: [["write", { path: "notes.txt", content: "Hello, World" }]],
    outputs: [WROTE],
    answer: "Wrote 1 line to `notes.txt`, a new file.",
  },
  {
    request: "write this to src/a.js:\n```js\nlet a = 1;\n\nlet b = 2;\n```",
    calls: [["write", { path: "src/a.js", content: "let a = 1;\n\nlet b = 2;\n" }]],
    outputs: [{ ...WROTE, new_lines: 3, is_new_file: false }],
    answer: "Wrote 3 lines to `src/a.js`, in place of what it held.",
  },
  {
    request: "create an empty file named src/empty.ts",
    calls: [["write", { path: "src/empty.ts", content: "" }]],
    outputs: [{ ...WROTE, new_lines: 0 }],
    answer: "Wrote 0 lines to `src/empty.ts`, a new file.",
  },
  {
    request: "replace 'colour' with 'color' in style.css",
    calls: [["edit", { path: "style.css", old_string: "colour", new_string: "color" }]],
    outputs: [EDITED],
    answer: 'Replaced "colour" with "color" in `style.css`, line 3.',
  },
  {
    request: "remove the line 'debugger;' from src/app.js",
    calls: [["edit", { path: "src/app.js", old_string: "debugger;", new_string: "" }]],
    outputs: [EDITED],
    answer: 'Removed "debugger;" from `src/app.js`, line 3.',
  },
  {
    request: "change foo to bar in src/main.ts",
    calls: [["edit", { path: "src/main.ts", old_string: "foo", new_string: "bar" }]],
    outputs: ["Error: String not found in src/main.ts"],
    answer: "The tool `edit` gave no result. String not found in src/main.ts",
    refused: true,
  },
  {
    request: "move report.md to the docs folder",
    calls: [["file_ops", { operation: "move", path: "report.md", to: "docs/report.md" }]],
    outputs: ["Moved report.md to docs/report.md"],
    answer: "Moved `report.md` to `docs/report.md`.",
  },
  {
    request: "rename the folder drafts to published",
    calls: [["file_ops", { operation: "move", path: "drafts", to: "published" }]],
    outputs: ["Moved drafts to published"],
    answer: "Moved `drafts` to `published`.",
  },
  {
    request: "copy a/b.txt to c/",
    calls: [["file_ops", { operation: "copy", path: "a/b.txt", to: "c/b.txt" }]],
    outputs: ["Copied a/b.txt to c/b.txt"],
    answer: "Copied `a/b.txt` to `c/b.txt`.",
  },
  {
    request: "erase 'my draft.md'",
    calls: [["file_ops", { operation: "delete", path: "my draft.md" }]],
    outputs: ["Deleted my draft.md"],
    answer: "Deleted `my draft.md`.",
  },
  {
    request: "mkdir -p build/cache",
    calls: [["file_ops", { operation: "create_directory", path: "build/cache" }]],
    outputs: ["Created build/cache"],
    answer: "Made the folder `build/cache`.",
  },
  {
    request: "add the line 'node_modules' to .gitignore",
    calls: [["file_ops", { operation: "append", path: ".gitignore", content: "node_modules\n" }]],
    outputs: ["--- .gitignore\n+++ .gitignore\n"],
    answer: "Added 1 line to `.gitignore`.",
  },
  {
    request: "list the entries of src",
    calls: [["file_ops", { operation: "list", path: "src" }]],
    outputs: ["a.ts\nbase/"],
    answer: "2 entries in `src`:\n- a.ts\n- base/",
  },
  {
    request: "run `git status`",
    calls: [["shell", { argv: ["git", "status"] }]],
    outputs: [SHELL],
    answer: "`git status` ended with exit code 0:\n\n```\nclean\n```",
  },
  {
    request: "$ ls -la src | head -n 3",
    calls: [["shell", { command: "ls -la src | head -n 3" }]],
    outputs: [{ ...SHELL, stdout: "" }],
    answer: "`ls -la src | head -n 3` ended with exit code 0 and printed nothing.",
  },
  {
    request: "run `A=1 env`",
    calls: [["shell", { command: "A=1 env" }]],
    outputs: [{ ...SHELL, note: "Output was truncated" }],
    answer: /\n```\n\nOutput was truncated$/,
  },
  {
    request: "use the terminal to run `make all`",
    calls: [["terminal", { argv: ["make", "all"] }]],
    outputs: [TERMINAL],
    answer: "`make all` ended with exit code 2:\n\n```\nbuilt\nwarned\n```",
  },
  {
    request: "run this in the shell:\n```sh\ncd src\n\nls\n```",
    calls: [["shell", { command: "cd src\n\nls" }]],
    outputs: [SHELL],
    answer: /clean/,
  },
  {
    request: "compute with python: sum(range(101))",
    calls: [["python_execute", { code: "sum(range(101))" }]],
    outputs: [{ ...PYTHON, result: "5050" }],
    answer: "The result is 5050.",
  },
  {
    request: "run this python:\n```python\nfor i in range(2):\n    print(i)\n\nopen('a', 'w')\n```",
    calls: [["python_execute", { code: "for i in range(2):\n    print(i)\n\nopen('a', 'w')" }]],
    outputs: [{ ...PYTHON, stdout: "0\n1\n", files: [{ path: "a", size: 0 }] }],
    answer: "It printed:\n\n```\n0\n1\n```\n\nIt wrote:\n- a",
  },
  {
    request: "python: 1 / 0",
    calls: [["python_execute", { code: "1 / 0" }]],
    outputs: [{ ...PYTHON, stderr: "Traceback ...\nZeroDivisionError" }],
    answer: /^It complained:\n\n```\nTraceback/,
  },
  {
    request: "search the web for tree rings",
    calls: [["search_web", { query: "tree rings" }]],
    outputs: [[{ title: "Rings", url: "https://a.example/", description: "About." }]],
    answer:
      '1 result of a web search for "tree rings":\n\n1. Rings\n   https://a.example/\n   About.',
  },
  {
    request: "google ants",
    calls: [["search_web", { query: "ants" }]],
    outputs: [[]],
    answer: 'The web search for "ants" found nothing.',
  },
  {
    request: "fetch https://example.org/",
    calls: [["fetch", { url: "https://example.org/" }]],
    outputs: [PAGE],
    answer: 'The text of "T" (https://example.org/):\n\nWords.',
  },
  {
    request: "summarise https://example.org/?a=1",
    calls: [["fetch", { url: "https://example.org/?a=1" }]],
    outputs: [{ ...PAGE, status: 404, truncated: true }],
    answer: /^The server answered 404\.\n\nI am not a language model and cannot summarise/,
    refused: true,
  },
  {
    request: "use scrape_webpage to read https://example.org/",
    calls: [["scrape_webpage", { url: "https://example.org/" }]],
    outputs: ["# Title\n\nWords."],
    answer: "The text of https://example.org/:\n\n# Title\n\nWords.",
  },
  {
    request: 'call mcp__files__read_text with {"path": "a.txt", "deep": {"n": [1, 2]}}',
    calls: [["mcp__files__read_text", { path: "a.txt", deep: { n: [1, 2] } }]],
    outputs: ["the text"],
    answer: "The tool `mcp__files__read_text` says: the text",
  },
  {
    request: 'use lint with:\n```json\n{\n  "fix": false\n}\n```',
    calls: [["lint", { fix: false }]],
    outputs: ["Error: `lint` exited with code 3: broken"],
    answer: "The tool `lint` gave no result. `lint` exited with code 3: broken",
    refused: true,
  },
  {
    request: "glob src/**/*.ts",
    calls: [["glob", { pattern: "src/**/*.ts", path: "." }]],
    outputs: ["src/a.ts\nsrc/b/c.ts\n... and 7 more"],
    answer: "2 files matching `src/**/*.ts` here:\n- src/a.ts\n- src/b/c.ts\n\n... and 7 more",
  },
  {
    request: "which files match docs/*.md?",
    calls: [["glob", { pattern: "docs/*.md", path: "." }]],
    outputs: ["No files matching 'docs/*.md' in ."],
    answer: "No files matching 'docs/*.md' in .",
  },
  {
    request: 'search for "a.b(" in src',
    calls: [["bash_ripgrep", { pattern: "(?i:a\\.b\\()", files: "src", limit: 100 }]],
    outputs: [{ results: ["src/x.ts:7:  a.b(1);"], total: 1, offset: 0, limit: 100 }],
    answer: '1 line with "a.b(" in 1 file in `src`:\n\nsrc/x.ts:7: a.b(1);',
  },
  {
    request: "find TODO in all files",
    calls: [["bash_ripgrep", { pattern: "TODO", files: ".", limit: 100 }]],
    outputs: [{ results: ["a.ts:1:TODO"], total: 300, offset: 0, limit: 100 }],
    answer: '300 lines with "TODO" here:\n\na.ts:1: TODO\n\n… and 299 more',
  },
  {
    request: "grep FIXME test",
    calls: [["grep", { pattern: "FIXME", path: "test", case_sensitive: true }]],
    outputs: [{ matches: [{ path: "test/a.ts", line: 4, text: "// FIXME" }], total: 1, offset: 0 }],
    answer: '1 line with "FIXME" in 1 file in `test`:\n\ntest/a.ts:4: // FIXME',
  },
  {
    request: "use bash_read to show lines 2 to 3 of a.txt",
    calls: [["bash_read", { filepath: "a.txt", offset: 1, limit: 2 }]],
    outputs: [{ results: ["two", "three"], total: 9, offset: 1, limit: 2, content: "two\nthree" }],
    answer: "Lines 2 to 3 of `a.txt`:\n\n```\ntwo\nthree\n```",
  },
];

const NAMES = new Set(FLOWS.flatMap(({ calls }) => calls.map(([name]) => name)));
const TOOLS = [...NAMES, "read", "bash_find"].map((name) => tool(name, {}));

/** Returns the outputs one after the other, whichever tool is called. */
function playOutputs(outputs: Flow["outputs"]): Record<string, Play> {
  const left = outputs.map((output) =>
    typeof output === "string" ? output : JSON.stringify(output),
  );
  const play = (): string => left.shift() ?? assert.fail("a call too many");
  return Object.fromEntries(TOOLS.map(({ name }) => [name, play]));
}

describe("plans that act", () => {
  for (const { request, calls, outputs, answer, refused = false } of FLOWS) {
    it(`serve "${request}"`, async () => {
      const heard = await run(ask(request, { tools: TOOLS }), playOutputs(outputs));
      const made = heard.turns.flat().map((call) => [call.name, argumentsOf(call)]);
      assert.deepEqual(made, calls);
      const [said, unsaid] = refused ? [heard.refusal, heard.text] : [heard.text, heard.refusal];
      assert.equal(unsaid, "");
      if (typeof answer === "string") assert.equal(said, answer);
      else assert.match(said, answer);
    });

    it(`report that "${request}" was denied`, async () => {
      const name = calls[0]?.[0] ?? "";
      const denied = `Error: Tool call ${name} was denied: a rule refuses it.`;
      const heard = await run(ask(request, { tools: TOOLS }), playOutputs([denied]));
      assert.deepEqual(
        [heard.text, heard.refusal],
        ["", `Tool call ${name} was denied: a rule refuses it. I have not done it.`],
      );
    });

    it(`name the tool that "${request}" needs`, async () => {
      const { calls: made, refusal } = await listen(ask(request, { tools: [] }));
      assert.deepEqual(made, []);
      assert.match(refusal, /^I need the tool `\w+` to .*, and it is not offered\. Allow it with/);
    });
  }

  it("use the offered one of several tools that do the same", async () => {
    const offered: readonly (readonly [string, string])[] = [
      ["run `ls`", "terminal"],
      ["fetch https://example.org/", "scrape_webpage"],
      ["read a.txt", "bash_read"],
      ["find TODO in src", "grep"],
    ];
    for (const [request, name] of offered) {
      const { calls } = await listen(ask(request, { tools: [tool(name, {})] }));
      assert.deepEqual(
        calls.map((call) => call.name),
        [name],
      );
    }
  });

  it("stop after a step that was refused", async () => {
    const request = ask("copy a.txt to b.txt, then delete a.txt", { tools: TOOLS });
    const denied = "Error: Tool call file_ops was denied by user";
    const { text, refusal, turns } = await run(request, playOutputs([denied]));
    assert.deepEqual([turns.length, text], [1, ""]);
    assert.match(
      refusal,
      /was denied by user\. I have not done it\.\n\nAfter that I stopped: 1 step/,
    );
  });

  it("continue after a step that was done", async () => {
    const request = ask("copy a.txt to b.txt, then delete a.txt", { tools: TOOLS });
    const { text } = await run(request, playOutputs(["Copied", "Deleted"]));
    assert.equal(text, "Copied `a.txt` to `b.txt`.\n\nDeleted `a.txt`.");
  });

  it("repeat an action that is requested twice, and read files again that may have changed", async () => {
    const twice = ask("append 'a' to log.txt, then append 'a' to log.txt", { tools: TOOLS });
    const appended = await run(twice, playOutputs([WROTE, WROTE]));
    assert.equal(appended.turns.flat().length, 2);
    const dates = ask("run `date`, then run `date`", { tools: TOOLS });
    const outputs = ["one", "two"].map((stdout) => ({ ...SHELL, stdout }));
    const { text: shown } = await run(dates, playOutputs(outputs));
    assert.match(shown, /one.*two/s);
    const changed = ask("Read a.txt. Write 'new' to a.txt. Read a.txt.", { tools: TOOLS });
    const { text } = await run(changed, playOutputs(["   1 | old", WROTE, "   1 | new"]));
    assert.match(text, /old\n.*Wrote 1 line.*new\n/s);
  });

  it("show the note after the results of a search", async () => {
    const note = "These results are from Brave Search.";
    const results = JSON.stringify([{ title: "Rings", url: "https://a.example/" }]);
    const request = ask("search the web for tree rings", { tools: TOOLS });
    const { items } = await listen(request);
    const parts = [results, note].map((text) => ({ type: "input_text", text }) as const);
    const output: Item = { type: "function_call_output", call_id: "call_1", output: parts };
    const calls = items.map((item) => ({ ...item, call_id: "call_1" }));
    const { text } = await listen({ ...request, items: [...request.items, ...calls, output] });
    assert.match(text, /^1 result of a web search.*1\. Rings.*\n\nThese results are from/s);
  });

  it("stop at a command that failed", async () => {
    const request = ask("run `make`; delete a.txt", { tools: TOOLS });
    const { turns } = await run(request, playOutputs([{ ...SHELL, exit_code: 1 }]));
    assert.equal(turns.length, 1);
  });

  it("do not take an output for a success unless it says so", async () => {
    const wrote = await run(
      ask("write hello to a.txt", { tools: TOOLS }),
      playOutputs([{ success: false, error: "disk full" }]),
    );
    assert.match(wrote.refusal, /`write` gave no result.*disk full/);
    const ran = await run(ask("run `ls`", { tools: TOOLS }), playOutputs([""]));
    assert.match(ran.refusal, /`shell` gave no result/);
  });
});
