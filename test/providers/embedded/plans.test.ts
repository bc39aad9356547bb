import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { argumentsOf, ask, playFiles, run } from "./replies.ts";

const FILES = {
  "package.json": '{\n  "name": "demo"\n}',
  "README.md":
    "# Demo\n\nIntro words.\n\n## Tests\n\nRun npm test.\nThen lint.\n\n## Licence\n\nFree.",
  "src/a.ts": "one\ntwo TODO\nthree",
  "src/b.ts": "four",
  "src/c.tsx": "five\nTODO six",
  "src/logo.png": "binary",
  "docs/only-here.md": "alone",
  "empty.txt": "",
};

interface Flow {
  readonly request: string;
  /** The calls of each turn as `name path …`. */
  readonly turns: readonly (readonly string[])[];
  readonly answer: RegExp | string;
}

const FLOWS: readonly Flow[] = [
  {
    request: "list the TypeScript files here",
    turns: [["bash_find . {*.ts,*.tsx,*.mts,*.cts} f 0"]],
    answer: "3 TypeScript files here:\n- src/a.ts\n- src/b.ts\n- src/c.tsx",
  },
  {
    request: "list the Go files in src",
    turns: [["bash_find src *.go f 0"]],
    answer: "No Go files in `src`.",
  },
  {
    request: "ls docs",
    turns: [["bash_find docs f 0"]],
    answer: "1 file in `docs`:\n- docs/only-here.md",
  },
  {
    request: "how many Markdown files are there?",
    turns: [["bash_find . {*.md,*.markdown} f 0"]],
    answer: "There are 2 Markdown files here.",
  },
  {
    request: "list the directories in src",
    turns: [["bash_find src d 0"]],
    answer: /4 directories in `src`/,
  },
  {
    request: "where is package.json?",
    turns: [["bash_find . package.json f 0"]],
    answer: /1 file named `package.json`:\n- package.json/,
  },
  {
    request: "read package.json",
    turns: [["read package.json"]],
    answer: '3 lines of `package.json`:\n\n```\n{\n  "name": "demo"\n}\n```',
  },
  { request: "read empty.txt", turns: [["read empty.txt"]], answer: /is empty/ },
  {
    request: "read only-here.md",
    turns: [["read only-here.md"], ["bash_find . only-here.md f 0"], ["read docs/only-here.md"]],
    answer: /1 line of `docs\/only-here.md`:\n\n```\nalone/,
  },
  {
    request: "show the first 2 lines of src/a.ts",
    turns: [["read src/a.ts 0 2"]],
    answer: /The first 2 lines of `src\/a.ts`:\n\n```\none\ntwo TODO\n```/,
  },
  {
    request: "what is the last line of src/a.ts?",
    turns: [["read src/a.ts"]],
    answer: /The last 1 line of `src\/a.ts`:\n\n```\nthree\n```/,
  },
  {
    request: "show lines 2 to 3 of src/a.ts",
    turns: [["read src/a.ts 1 2"]],
    answer: /Lines 2 to 3 .*\n\n```\ntwo TODO\nthree\n```/,
  },
  {
    request: "how many lines has src/a.ts?",
    turns: [["read src/a.ts"]],
    answer: "`src/a.ts` has 3 lines.",
  },
  {
    request: "how many lines has each file in src?",
    turns: [["bash_find src f 0"], ["read src/a.ts", "read src/b.ts", "read src/c.tsx"]],
    answer:
      /3 files in `src`, 6 lines in all:\n\n\| file \| lines \|\n.*\n\| src\/a.ts \| 3 \|\n\| src\/b.ts \| 1 \|\n\| src\/c.tsx \| 2 \|\n\| total \| 6 \|\n\n1 file of binary kinds left out./,
  },
  {
    request: "which file in src is the longest?",
    turns: [["bash_find src f 0"], ["read src/a.ts", "read src/b.ts", "read src/c.tsx"]],
    answer: /The longest file in `src` is `src\/a.ts` with 3 lines./,
  },
  {
    request: "find TODO in src",
    turns: [["bash_find src f 0"], ["read src/a.ts", "read src/b.ts", "read src/c.tsx"]],
    answer:
      /2 lines with "TODO" in 2 files in `src`:\n\nsrc\/a.ts:2: two TODO\nsrc\/c.tsx:2: TODO six/,
  },
  {
    request: "find 'five' in src/c.tsx",
    turns: [["read src/c.tsx"]],
    answer: /src\/c.tsx:1: five/,
  },
  {
    request: "what does README.md say about tests?",
    turns: [["read README.md"]],
    answer:
      /2 passages about "tests":\n\nLine 5:\n> ## Tests\n\nLines 7-8:\n> Run npm test.\n> Then lint./,
  },
  {
    request: "what does README.md say about penguins?",
    turns: [["read README.md"]],
    answer: '`README.md` says nothing about "penguins".',
  },
  {
    request: "compare src/a.ts and src/b.ts",
    turns: [["read src/a.ts"], ["read src/b.ts"]],
    answer: /has more lines than `src\/b.ts` \(3 and 1\)/,
  },
  {
    request: "Read src/b.ts. Then compute 6*7.",
    turns: [["read src/b.ts"]],
    answer: /four\n```\n\n6\*7 = 42$/,
  },
];

describe("embedded plans", () => {
  for (const { request, turns, answer } of FLOWS) {
    it(`serves "${request}"`, async () => {
      const heard = await run(ask(request), playFiles(FILES));
      const made = heard.turns.map((calls) =>
        calls.map((call) => `${call.name} ${Object.values(argumentsOf(call)).join(" ")}`),
      );
      assert.deepEqual(made, turns);
      if (typeof answer === "string") assert.equal(heard.text, answer);
      else assert.match(heard.text, answer);
      assert.equal(heard.end.reason, "stop");
    });
  }

  it("reads at most forty files and says so", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`src/f${index}.ts`, "x"]),
    );
    const { turns, text } = await run(ask("how many lines has each file in src?"), playFiles(many));
    assert.equal(turns[1]?.length, 40);
    assert.match(text, /Only the first 40 of 60 files were read\./);
  });

  it("refuses a request about a missing file", async () => {
    const { text, refusal, turns } = await run(ask("read nowhere.md"), playFiles({ "a.md": "x" }));
    assert.deepEqual([text, turns.length], ["", 2]);
    assert.match(refusal, /gave no result. File not found: nowhere.md/);
  });

  it("refuses to measure files if none can be read", async () => {
    const found = JSON.stringify({ results: ["src/a", "src/b"], total: 2 });
    const denied = "Error: Tool call read was denied: a rule refuses it.";
    for (const request of ["how many lines has each file in src?", "find TODO in src"]) {
      const plays = { bash_find: () => found, read: () => denied };
      const { text, refusal } = await run(ask(request), plays);
      assert.equal(text, "", request);
      assert.match(refusal, /`read` gave no result. src\/a: .*denied/);
    }
  });

  it("reports a tool's refusal", async () => {
    const plays = { bash_find: () => "Command failed: no such place", read: () => "" };
    const { text, refusal } = await run(ask("list the files in src"), plays);
    assert.equal(text, "");
    assert.match(refusal, /`bash_find` gave no result. Command failed: no such place/);
  });

  it("reports a call that was denied", async () => {
    const plays = { read: () => "Tool call read was denied by user" };
    const { text, refusal } = await run(ask("read package.json"), plays);
    assert.equal(text, "");
    assert.match(refusal, /denied by user/);
  });
});
