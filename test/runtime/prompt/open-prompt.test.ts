import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { splitParts } from "../../../src/agent/told-parts.ts";
import {
  type OpenedPrompt,
  openPrompt,
  type PromptWish,
} from "../../../src/runtime/prompt/open-prompt.ts";
import { readBranch } from "../../../src/runtime/prompt/place-facts.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { createSandbox } from "../sandbox.ts";

const SKILL = {
  name: "pdf",
  description: "For PDFs.",
  scope: "user",
  folder: "/",
  uid: 0,
} as const;

async function tell(t: TestContext, wish: Partial<PromptWish> = {}): Promise<OpenedPrompt> {
  const { home, cwd, env } = createSandbox(t);
  mkdirSync(join(cwd, ".git"));
  writeFileSync(join(cwd, ".git", "HEAD"), "ref: refs/heads/topic/one\n");
  writeFileSync(join(cwd, "AGENTS.md"), "Use tabs.");
  const clock = createManualClock(new Date(2030, 4, 6, 12).getTime());
  const rest = { tools: ["read"], skills: [], approve: "ask", sandbox: "process" };
  const system = { system: "Be brief.", systemSource: "--system", isBare: false };
  return await openPrompt({ cwd, home, env, clock, ...rest, ...system, readsNotes: true, ...wish });
}

const kindsOf = (prompt: OpenedPrompt): string[] => splitParts(prompt).map(({ part }) => part);

describe("the prompt of the command line", () => {
  it("is the base prompt, the place, the notes, then the user's text", async (t) => {
    const prompt = await tell(t);
    assert.deepEqual(kindsOf(prompt), ["base", "place", "notes", "system"]);
    const text = prompt.instructions ?? "";
    assert.match(text, /^You are an agent\./);
    assert.match(text, /\n- Date: 2030-05-06\n- Git branch: topic\/one\n/);
    assert.match(text, /Use tabs\./);
    assert.ok(text.endsWith("\n\nBe brief."));
  });

  it("says how to delegate and which skills there are if the run may use them", async (t) => {
    const tools = ["read", "subagent", "skill"];
    const prompt = await tell(t, { tools, skills: [SKILL] });
    assert.deepEqual(kindsOf(prompt), [
      ...["base", "delegation", "place", "notes", "skills", "system"],
    ]);
    assert.match(prompt.instructions ?? "", /<skills>\n- pdf \(user\): For PDFs\.\n<\/skills>/);
  });

  it("is only the user's text with --bare, and empty without one", async (t) => {
    assert.equal((await tell(t, { isBare: true })).instructions, "Be brief.");
    const bare = await tell(t, { isBare: true, system: null });
    assert.deepEqual([bare.instructions, bare.told], [null, []]);
  });

  it("has the user's own base prompt instead of the package's", async (t) => {
    const base = { text: "You are mine.", source: "mine.md" };
    const prompt = await tell(t, { base, tools: ["subagent"] });
    assert.deepEqual(kindsOf(prompt), ["base", "place", "notes", "system"]);
    assert.ok(prompt.instructions?.startsWith("You are mine.\n\nWhere you work:"));
  });

  it("leaves AGENTS.md out if it is not to be read", async (t) => {
    assert.deepEqual(kindsOf(await tell(t, { readsNotes: false })), ["base", "place", "system"]);
  });
});

describe("the git branch", () => {
  it("is read in a worktree, and without a branch", async (t) => {
    const { cwd } = createSandbox(t);
    assert.equal(await readBranch(cwd), undefined);
    mkdirSync(join(cwd, "real"));
    writeFileSync(join(cwd, ".git"), "gitdir: real\n");
    writeFileSync(join(cwd, "real", "HEAD"), `${"a".repeat(40)}\n`);
    assert.equal(await readBranch(cwd), "none (at aaaaaaaaaaaa)");
  });

  it("is not read from a file of another kind", async (t) => {
    const { cwd } = createSandbox(t);
    mkdirSync(join(cwd, ".git"));
    writeFileSync(join(cwd, ".git", "HEAD"), `ref: refs/heads/${"x".repeat(10_000)}`);
    assert.equal(await readBranch(cwd), undefined);
  });
});
