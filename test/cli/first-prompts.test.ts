/**
 * First prompts of people without a key: each is answered, or refused with the exit code of a refusal, nothing on
 * standard output and three helpful lines. None gets a nonsensical answer.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { main } from "../../src/cli/main.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";
import { createFakeIo, type FakeIo } from "./fake-io.ts";

/** Each with what its answer says. */
const HELPFUL: readonly (readonly [string, RegExp])[] = [
  ["hello", /^Hello\. I am `embedded\/offline`/],
  ["hi, who are you?", /`embedded\/offline`/],
  ["what can you do", /I can:\n- /],
  ["help", /I can:\n- /],
  ["/help", /I can:\n- /],
  ["what model are you?", /not a language model/],
  ["are you chatgpt?", /not a language model/],
  ["how do I use a real model?", /OPENAI_API_KEY.*\n.*ollama.*\n.*models pull/],
  ["how do I use Claude?", /ANTHROPIC_API_KEY/],
  ["how do I set my API key?", /export OPENAI_API_KEY/],
  ["thanks", /You are welcome/],
  ["quit", /ends with each answer/],
  ["what is 2+2", /= 4/],
  ["what is 15% of 80?", /= 12/],
  ["list files", /- README\.md/],
  ["List the TypeScript files here", /- src\/store\.ts/],
  ["how many files are there?", /4 files/],
  ["how many lines of code are in this repo?", /lines/],
  ["find TODOs", /src\/store\.ts:2: \/\/ TODO: close it/],
  ["any TODOs?", /TODO: close it/],
  ["find TODO in src", /TODO: close it/],
  ["summarise README.md", /- Shop: A small shop\.\n- Install: Run npm install\./],
  ["Summarize this project", /A small shop\./],
  ["what does this project do?", /A small shop\./],
  ["read package.json", /"name": "shop"/],
  ["show the first 2 lines of README.md", /# Shop/],
  ["where is store.ts?", /src\/store\.ts/],
  ["my name is Ada", /I keep nothing after it ends/],
  ["which tools do you have?", /`read`/],
  ["say hello", /^hello$/m],
];

/** Prompts that need a command: refused without a person to ask, with the reason. */
const ASKED: readonly string[] = [
  "git status",
  "what is the last commit?",
  "what has changed?",
  "run the tests",
  "npm test",
  "do the tests pass?",
  "create a file hello.txt with the text hi",
];

const REFUSED: readonly string[] = [
  "write a haiku about spring",
  "tell me a joke",
  "fix the bug",
  "explain src/store.ts",
  "what is the capital of France?",
  "translate hello to German",
  "Wie heißt du?",
  "你好",
  "write a python script that prints the first 10 primes",
  "spawn two subagents to review src and test",
  "what time is it?",
  "what's the weather in Oslo?",
  "refactor src/store.ts",
  "add a .gitignore",
  "what dependencies does it have?",
  "rename getUser to loadUser and update imports",
  "delete everything",
  "meaning of life",
  "sort 3, 1, 2",
  "Write the commit message",
  "write a summary to SUMMARY.md",
  "is this code safe?",
  "review my changes",
  "make it faster",
  "ok",
];

function createProject(t: TestContext): FakeIo {
  const sandbox = createSandbox(t);
  const cwd = join(sandbox.home, "shop");
  put(
    join(cwd, "README.md"),
    "# Shop\n\nA small shop. It sells.\n\n## Install\n\nRun npm install.\n",
  );
  put(join(cwd, "package.json"), '{ "name": "shop", "scripts": { "test": "true" } }\n');
  put(join(cwd, "src/store.ts"), "export const store = 1;\n// TODO: close it\n");
  put(join(cwd, "src/user.ts"), "export const user = 2;\n");
  const env = { OFFSHOOT_DATA: join(sandbox.home, "data"), OFFSHOOT_PROBE_LOCAL: "false" };
  return createFakeIo({ home: sandbox.home, cwd, env });
}

/** As in a script: with the fallback model, and without a terminal. */
async function type(t: TestContext, prompt: string, ...flags: string[]): Promise<Said> {
  const io = createProject(t);
  const code = await main(["run", "--no-store", "-q", ...flags, prompt], io);
  return { code, ...io.written };
}

/** One line, whatever else is hidden. */
const FELL_BACK = /^model: embedded\/offline \(no key, no local server found; .*\)\n$/;

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe("the version", () => {
  for (const word of ["--version", "-v", "-V", "version"]) {
    it(`is printed by ${word}`, async (t) => {
      const io = createProject(t);
      assert.equal(await main([word], io), 0);
      assert.match(io.written.stdout, /^\d+\.\d+\.\d+\n$/);
    });
  }
});

describe("two forms of output at once", () => {
  it("two forms of output in one command are refused", async (t) => {
    const { code, stderr } = await type(t, "hello", "--sse", "-o", "json");
    assert.equal(code, 2);
    assert.match(stderr, /either --sse or -o json, not both/);
  });
});

describe("first prompts", () => {
  it("are at least sixty", () => {
    assert.ok(HELPFUL.length + ASKED.length + REFUSED.length >= 60);
  });

  for (const [prompt, answer] of HELPFUL) {
    it(`"${prompt}" is served`, async (t) => {
      const { code, stdout, stderr } = await type(t, prompt);
      assert.equal(code, 0, stdout);
      assert.match(stderr, FELL_BACK);
      assert.match(stdout, answer);
    });
  }

  for (const prompt of ASKED) {
    it(`"${prompt}" is not done if no person can allow it, and says so`, async (t) => {
      const { code, stdout, stderr } = await type(t, prompt, "--approve", "deny");
      assert.deepEqual([code, stdout], [5, ""]);
      assert.match(stderr, /\nTool call \w+ was denied: .*I have not done it\.\n$/);
    });
  }

  for (const prompt of REFUSED) {
    it(`"${prompt}" is refused`, async (t) => {
      const { code, stdout, stderr } = await type(t, prompt);
      assert.deepEqual([code, stdout], [5, ""], stderr);
      const [model = "", ...lines] = stderr.trimEnd().split("\n");
      assert.match(`${model}\n`, FELL_BACK);
      assert.equal(lines.length, 3, stderr);
      assert.match(lines[0] ?? "", /not a language model/);
      assert.match(lines[1] ?? "", /".+" and ".+"/);
      assert.match(lines[2] ?? "", /OPENAI_API_KEY/);
    });
  }

  it("say what does not exist, and that nothing was done", async (t) => {
    const { code, stdout, stderr } = await type(t, "cat MISSING.md");
    assert.deepEqual([code, stdout], [5, ""]);
    assert.match(stderr, /File not found: MISSING\.md/);
  });

  it("do not mention the model with -q if the user chose it", async (t) => {
    const { code, stderr } = await type(t, "hello", "-m", "embedded");
    assert.deepEqual([code, stderr], [0, ""]);
  });
});
