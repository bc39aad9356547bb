/** The tables of docs/library.md have every name that the code has, and no other; docs/testing.md every reply. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { KINDS } from "../src/agent/limits.ts";
import { ENDINGS } from "../src/protocol/run-events.ts";
import { RUN_FIELDS } from "../src/runtime/run-request.ts";
import { createRuntime } from "../src/runtime/runtime.ts";
import { RUNTIME_OPTIONS } from "../src/runtime/runtime-options.ts";
import { createScriptedProvider, reply } from "../src/testing/index.ts";
import { ANSWERS } from "../src/tools/gate/ask.ts";

// From build/test/ up to the checkout.
const page = readFileSync(new URL("../../docs/library.md", import.meta.url), "utf8");

function sectionOf(title: string): string {
  return page.split(/^## /m).find((section) => section.startsWith(`${title}\n`)) ?? "";
}

/** The first cells of the tables that begin with this head. */
function namesIn(section: string, head: string): string[] {
  const tables = section.split(/\n\n/).filter((block) => block.startsWith(`| ${head} |`));
  return tables
    .flatMap((table) => table.split("\n").slice(2))
    .map((row) => /^\| `(\w+)`/.exec(row)?.[1] ?? row);
}

const sorted = (names: readonly string[]): string[] => [...names].sort();

describe("docs/library.md", () => {
  it("has every option of a runtime", () => {
    const named = namesIn(sectionOf("`createRuntime(options)`"), "option");
    assert.deepEqual(sorted(named), sorted(RUNTIME_OPTIONS));
  });

  it("has every field of a run", () => {
    const named = namesIn(sectionOf("`runtime.run(request)`"), "field");
    assert.deepEqual(sorted(named), sorted(RUN_FIELDS));
  });

  it("has everything that a run and a runtime can do, and says when it rejects", async (t) => {
    const provider = createScriptedProvider(reply.text("Hello."));
    const runtime = await createRuntime({ env: {}, provider });
    t.after(() => runtime.close());
    const run = await runtime.run({ model: "mine/any", input: "Hello" });
    await run.result();
    const started = sectionOf("`runtime.run(request)`");
    for (const name of Object.keys(run))
      assert.match(started, new RegExp(`^\\| \`${name}\\b`, "m"));
    const named = namesIn(sectionOf("Other calls of a runtime"), "call");
    assert.deepEqual(sorted(named), sorted(Object.keys(runtime)));
    const throws = sectionOf("What throws");
    for (const name of ["attach", "steer", "runtime.cancel", "run.cancel"]) {
      assert.ok(throws.includes(`\`${name}\``), name);
    }
    await assert.rejects(runtime.attach("run_none"), { code: "not_found" });
    await assert.rejects(run.steer("x"), { code: "conflict" });
    await runtime.cancel(run.id);
    await assert.rejects(runtime.steer(run.id, " "), { code: "invalid_request" });
  });

  it("has every ending, in the same words", () => {
    const section = sectionOf("How a run ends");
    assert.deepEqual(namesIn(section, "ending"), Object.keys(ENDINGS));
    for (const { summary } of Object.values(ENDINGS)) assert.ok(section.includes(summary), summary);
  });

  it("names every kind of limit and every answer to a question", () => {
    for (const kind of KINDS)
      assert.match(sectionOf("`runtime.run(request)`"), new RegExp(`\`${kind}\``));
    for (const answer of ANSWERS)
      assert.match(sectionOf("Approval"), new RegExp(`\`"${answer}"\``));
  });
});

describe("docs/testing.md", () => {
  it("the testing page describes every scripted reply", () => {
    const testing = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8");
    for (const name of Object.keys(reply))
      assert.match(testing, new RegExp(`\`reply\\.${name}\\(`));
  });
});
