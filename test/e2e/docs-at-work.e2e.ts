/**
 * The blocks of docs/delegation.md, docs/safety.md, docs/server.md and docs/runs-api.md that are typed while a tree
 * works: each line, unchanged, against a tree whose subagent `parser` waits for approval of a call.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { OpenQuestion } from "../../src/runtime/approvals.ts";
import { reply, respond, type Script, type Upstream } from "../../src/testing/index.ts";
import { type DocBlock, readBlocks } from "../doc-blocks.ts";
import { until } from "../patience.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";
import { endDocShells, KEY, startUntil } from "./docs/doc-world.ts";
import { serve } from "./served.ts";
import { runShell } from "./shell.ts";
import { CHAT, runAt } from "./wires.ts";

after(endDocShells);

const READ = { name: "read", arguments: JSON.stringify({ path: "notes.md" }) };
const WRITE = {
  name: "write",
  arguments: JSON.stringify({ path: "parser.md", content: "Parsed." }),
};

/** Its subagent `parser` reads twice, then reads and writes in its third turn, and does not end by itself after that. */
function createTree(): Script {
  const order = { label: "parser", task_prompt: "Parse it" };
  return respond(({ items }) => {
    const answers = items.filter(({ type }) => type === "function_call_output").length;
    if (JSON.stringify(items).includes("Begin")) {
      if (answers > 0) return reply.text("Done.");
      return reply.calls([{ name: "subagent", arguments: JSON.stringify(order) }]);
    }
    if (answers > 2) return reply.silence("Working");
    return reply.calls(answers < 2 ? [READ] : [READ, WRITE]);
  });
}

/** The block of this page whose lines have these words. */
function blockWith(page: string, words: string): DocBlock {
  const found = readBlocks(page).filter(({ text }) => text.includes(words));
  const named = found.find(({ testedBy }) => testedBy?.includes("docs-at-work"));
  return named ?? assert.fail(`${page} has no block with ${words}`);
}

interface Tree extends AsyncDisposable {
  readonly place: Place;
  readonly upstream: Upstream;
  readonly command: RunningCommand;
  readonly question: OpenQuestion;
}

async function startTree(): Promise<Tree> {
  const place = await createPlace({ "notes.md": "Water the beans.\n" });
  const upstream = await CHAT.start({ engine: createTree() });
  const words = runAt(upstream, CHAT, "--approval-wait", "600", "Begin");
  const command = place.start(words);
  const question = await until(async () => {
    const { stdout } = await place.run(["runs", "waiting", "--json"]);
    return (JSON.parse(stdout || "[]") as OpenQuestion[])[0];
  }, "the question of the subagent");
  return {
    place,
    upstream,
    command,
    question,
    async [Symbol.asyncDispose]() {
      command.child.kill("SIGKILL");
      await command.ended.catch(() => {});
      await upstream[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** What the command prints, on either output. */
const SAYS: Readonly<Record<string, RegExp>> = {
  tree: /parser-1\.0/,
  steer: /^left for run_\w+\/parser-1\.0/,
  waiting: /offshoot runs approve run_\S+ tool:3\.1/,
  approve: /^approved: write parser\.md/,
  deny: /^denied: write parser\.md/,
  cancel: /parser-1\.0 has ended: cancelled/,
};

describe("the commands for a tree at work", () => {
  const blocks = [
    blockWith("docs/delegation.md", "offshoot runs follow last"),
    blockWith("docs/safety.md", "offshoot runs waiting"),
  ];
  for (const { page, text } of blocks) {
    for (const line of text.trim().split("\n")) {
      it(`${page}: ${line.replace(/ +#.*$/, "")}`, async () => {
        await using tree = await startTree();
        const { place } = tree;
        const [, verb = ""] = /^offshoot runs (\w+)/.exec(line) ?? assert.fail(line);
        if (verb === "follow") {
          assert.match(await startUntil(line, place, "parser [parser-1.0]: started"), /parser/);
          return;
        }
        const { code, stdout, stderr } = await runShell(line, place);
        assert.equal(code, 0, stderr);
        assert.match(`${stdout}${stderr}`, SAYS[verb] ?? assert.fail(verb));
      });
    }
  }

  it("docs/runs-api.md: the answer to a question", async () => {
    await using tree = await startTree();
    const { place, question } = tree;
    await using served = await serve({ place, key: KEY, args: ["-m", "embedded/offline"] });
    const { text } = blockWith("docs/runs-api.md", "/answer");
    const typed = text
      .replace("http://127.0.0.1:8484", served.url)
      .replace("run_1", encodeURIComponent(question.run_id))
      .replace("tool:1.0", question.question);
    assert.notEqual(typed, text);
    const { stdout } = await runShell(typed, place, { KEY });
    assert.match(stdout, /"outcome":\s*"taken"/, stdout);
  });

  it("docs/server.md: messages for a response and its subagent, and a stop", async () => {
    await using place = await createPlace({ "notes.md": "Water the beans.\n" });
    await using upstream = await CHAT.start({ engine: createServedTree() });
    const args = ["-m", "custom/tree", "--provider", "openai-chat", "--url", upstream.url];
    await using served = await serve({ place, key: KEY, args });
    const tools = [{ type: "mcp", server_label: "offshoot", require_approval: "never" }];
    const { id } = await served.create({ input: "Begin", tools, background: true });
    await upstream.waitForRequest(2);
    const { text } = blockWith("docs/server.md", "/steer");
    const env = { OPENAI_BASE_URL: `${served.url}/v1`, OPENAI_API_KEY: KEY };
    const said: unknown[] = [];
    for (const line of text.trim().split("\n")) {
      const { stdout } = await runShell(line.replace("resp_01k…", id), place, env);
      const { object, subagent, error } = JSON.parse(stdout) as Record<string, unknown>;
      assert.equal(error ?? null, null, stdout);
      said.push([object, subagent ?? null]);
    }
    assert.deepEqual(said.slice(0, 2), [
      ["response.steered", null],
      ["response.steered", "parser-1.0"],
    ]);
    assert.equal(said.length, 3);
  });
});

/** Its subagent never ends by itself. */
function createServedTree(): Script {
  const order = { label: "parser", task_prompt: "Parse it" };
  return respond(({ items }) => {
    const text = JSON.stringify(items);
    if (text.includes("Begin")) {
      if (text.includes("function_call_output")) return reply.text("Done.");
      return reply.calls([{ name: "offshoot__subagent", arguments: JSON.stringify(order) }]);
    }
    return reply.silence("Working");
  });
}
