/** `offshoot run` as users run it: its input, its requests, its output, and how it ends. */

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { reply, script, type Upstream } from "../../src/testing/index.ts";
import { withGrowingLimit } from "../patience.ts";
import { createPlace, type Ended } from "./command.ts";
import { CHAT, LEGACY, RESPONSES, runAt, WIRES } from "./wires.ts";

const CITY_SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, population: { type: "integer" } },
  required: ["city", "population"],
  additionalProperties: false,
};

/** The smallest valid picture and document. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const PDF = Buffer.from("%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n");

function check(ended: Ended, expected: { code: number; stdout?: string }): void {
  const shown = `${ended.stdout}\n${ended.stderr}`;
  assert.equal(ended.signal, null, shown);
  assert.equal(ended.code, expected.code, shown);
  if (expected.stdout !== undefined) assert.equal(ended.stdout, expected.stdout);
}

function bodyOf({ requests }: Upstream, number = 1): JsonObject {
  return requests[number - 1]?.body ?? assert.fail(`there is no request ${number}`);
}

function entriesIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

describe("run with the embedded model", () => {
  it("answers through a real tool call", async () => {
    await using place = await createPlace({ "a.ts": "", "src/b.ts": "", "notes.md": "" });
    const ended = await place.run(["run", "List the TypeScript files here"]);
    check(ended, { code: 0, stdout: "2 TypeScript files here:\n- a.ts\n- src/b.ts\n" });
    const [model, call, result, summary, id, ...rest] = ended.stderr.split("\n");
    assert.match(model ?? "", /^model: embedded\/offline \(no key, no local server found; choose /);
    assert.match(call ?? "", /^bash_find\(\{.*\}\)$/);
    assert.match(result ?? "", /^bash_find → \+\d+ chars$/);
    assert.match(summary ?? "", /^2 turns · 1 tool call · [\d,]+ tokens · \d+\.\d s · free$/);
    assert.match(id ?? "", /^run: run_\w+ \(offshoot runs tree, show, replay; run -c\)$/);
    assert.deepEqual(rest, [""]);
  });

  it("prints one JSON document that fits the schema, and nothing else", async () => {
    const files = { "city.json": JSON.stringify(CITY_SCHEMA), "notes.txt": "Paris: 2100000\n" };
    await using place = await createPlace(files);
    const prompt = "Extract the city and its population: city Paris, population 2100000";
    const args = ["run", "-m", "embedded", "--schema", "city.json", prompt, "-f", "notes.txt"];
    const ended = await place.run(args, { input: "a,b\n1,2\n" });
    check(ended, { code: 0 });
    assert.match(ended.stdout, /^\{.*\}\n$/);
    const validate = new Ajv2020().compile(CITY_SCHEMA);
    assert.ok(validate(JSON.parse(ended.stdout)), ended.stdout);
  });

  it("keeps no record with --no-store", async () => {
    await using place = await createPlace({ "a.ts": "" });
    check(await place.run(["run", "--no-store", "List the TypeScript files here"]), { code: 0 });
    assert.deepEqual(await readdir(place.home), []);
    check(await place.run(["run", "compute 6*7"]), { code: 0, stdout: "6*7 = 42\n" });
    assert.deepEqual((await place.runIds()).length, 1);
  });

  it("prints nothing on standard error with -q except that the fallback was used", async () => {
    await using place = await createPlace({ "a.ts": "" });
    const args = ["run", "-q", "List the TypeScript files here"];
    const ended = await place.run(args);
    check(ended, { code: 0, stdout: "1 TypeScript file here:\n- a.ts\n" });
    assert.match(ended.stderr, /^model: embedded\/offline \(no key, .*\)\n$/);
    assert.equal((await place.run([...args, "-m", "embedded"])).stderr, "");
  });

  it("hides tool calls with --brief", async () => {
    await using place = await createPlace({ "a.ts": "" });
    const ended = await place.run(["run", "--brief", "List the TypeScript files here"]);
    check(ended, { code: 0 });
    assert.doesNotMatch(ended.stderr, /bash_find/);
    const sse = await place.run(["run", "--sse", "-b", "List the TypeScript files here"]);
    assert.doesNotMatch(sse.stdout, /tool_call|tool_result/);
    assert.match(sse.stdout, /event: output_text/);
  });

  it("ends the text with the marker when asked", async () => {
    await using place = await createPlace();
    const ended = await place.run(["run", "--done-marker", "compute 6*7"]);
    check(ended, { code: 0, stdout: "6*7 = 42\n\n=== [ DONE ] ===\n" });
    const args = ["run", "-m", "embedded", "--done-marker", "--json-object", 'Convert {"a":1}'];
    const json = await place.run(args);
    check(json, { code: 0 });
    assert.match(json.stdout, /^\{.*\}\n\n=== \[ DONE \] ===\n$/);
  });
});

describe("what is sent", () => {
  it("is files, then the prompt, then standard input", async () => {
    await using place = await createPlace({ "one.txt": "FIRST", "two.txt": "SECOND" });
    await using upstream = await CHAT.start({ engine: script(reply.text("ok")) });
    const args = runAt(upstream, CHAT, "--bare", "-f", "one.txt", "THE PROMPT", "@two.txt");
    check(await place.run(args, { input: "PIPED" }), { code: 0, stdout: "ok\n" });
    const [message] = entriesIn(bodyOf(upstream)["messages"]);
    const order = /FIRST[\s\S]*SECOND[\s\S]*THE PROMPT[\s\S]*PIPED/;
    assert.match(JSON.stringify(message?.["content"]), order);
  });

  it("is the piped text alone without a prompt", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.text("ok")) });
    check(await place.run(runAt(upstream, CHAT), { input: "PIPED" }), { code: 0 });
    assert.match(JSON.stringify(bodyOf(upstream)["messages"]), /"PIPED"/);
  });

  it("has instructions from --system, also from a file", async () => {
    await using place = await createPlace({ "rules.txt": "Speak like a pirate.\n" });
    await using upstream = await RESPONSES.start({ engine: script(...twice("ok")) });
    check(await place.run(runAt(upstream, RESPONSES, "--system", "@rules.txt", "Hi")), { code: 0 });
    const bare = runAt(upstream, RESPONSES, "--bare", "-s", "Be brief.", "Hi");
    check(await place.run(bare), { code: 0 });
    assert.match(String(bodyOf(upstream, 1)["instructions"]), /\n\nSpeak like a pirate\.$/);
    assert.equal(bodyOf(upstream, 2)["instructions"], "Be brief.");
  });

  it("has the picture and the document with their types", async () => {
    await using place = await createPlace({ "a.png": PNG, "b.pdf": PDF });
    await using upstream = await RESPONSES.start({ engine: script(reply.text("a dot")) });
    const args = runAt(upstream, RESPONSES, "What is this?", "-f", "a.png", "-f", "b.pdf");
    check(await place.run(args), { code: 0, stdout: "a dot\n" });
    const [message] = entriesIn(bodyOf(upstream)["input"]);
    const [picture, document, text] = entriesIn(message?.["content"]);
    assert.equal(picture?.["image_url"], `data:image/png;base64,${PNG.toString("base64")}`);
    assert.equal(document?.["filename"], "b.pdf");
    assert.equal(document?.["file_data"], `data:application/pdf;base64,${PDF.toString("base64")}`);
    assert.equal(text?.["text"], "What is this?");
  });

  it("has the limits, and no tools if none are wanted", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.text("ok")) });
    const flags = ["--tools", "none", "--temperature", "0.5", "--max-tokens", "77"];
    check(await place.run(runAt(upstream, CHAT, ...flags, "Hi")), { code: 0 });
    const { tools, tool_choice, temperature, max_tokens } = bodyOf(upstream);
    assert.deepEqual(
      [tools, tool_choice, temperature, max_tokens],
      [undefined, undefined, 0.5, 77],
    );
  });
});

describe("a tool call over the network", { concurrency: 2 }, () => {
  for (const wire of WIRES) {
    it(`makes the round trip over ${wire.name}`, async () => {
      await using place = await createPlace({ "a.ts": "", "b.ts": "" });
      await using upstream = await wire.start();
      const ended = await place.run(runAt(upstream, wire, "List the TypeScript files here"));
      check(ended, { code: 0, stdout: "2 TypeScript files here:\n- a.ts\n- b.ts\n" });
      assert.match(ended.stderr, /^model: custom\/test-model \(--model\)\n/);
      assert.equal(upstream.requests.length, 2);
    });
  }

  it("answers the older vocabulary in its own form", async () => {
    await using place = await createPlace({ "a.ts": "" });
    await using upstream = await LEGACY.start();
    check(await place.run(runAt(upstream, LEGACY, "List the TypeScript files here")), { code: 0 });
    const body = bodyOf(upstream, 2);
    assert.match(String(body["previous_response_id"]), /^resp_/);
    assert.deepEqual(
      entriesIn(body["input"]).map(({ type }) => type),
      ["tool_result"],
    );
  });
});

describe("endings", { concurrency: 2 }, () => {
  const find = { name: "bash_find", arguments: { path: "." } };

  it("exits with 3 at the turn limit and keeps the partial answer", async () => {
    await using place = await createPlace();
    const answers = [reply.calls([find], { text: "Looking." }), reply.calls([find])];
    await using upstream = await CHAT.start({ engine: script(...answers) });
    const ended = await place.run(runAt(upstream, CHAT, "--max-turns", "1", "Hi"));
    check(ended, { code: 3, stdout: "Looking.\n" });
    assert.match(
      ended.stderr,
      /\noffshoot: The run stopped at its limit of 1 turn\. .*run -c --max-turns N "continue"\n$/,
    );
    assert.equal(upstream.requests.length, 1);
  });

  for (const wire of WIRES) {
    it(`exits with 4 if the answer was truncated at its token limit, over ${wire.name}`, async () => {
      await using place = await createPlace();
      await using upstream = await wire.start({ engine: script(reply.length("It was a dark")) });
      const ended = await place.run(runAt(upstream, wire, "--max-tokens", "16", "Tell a story"));
      check(ended, { code: 4, stdout: "It was a dark\n" });
      assert.match(
        ended.stderr,
        /\noffshoot: The answer was cut at its token limit\. .*run -c --max-tokens N "continue"\n$/,
      );
    });
  }

  it("exits with 4 if the embedded model's answer was truncated", async () => {
    await using place = await createPlace();
    const ended = await place.run(["run", "--max-tokens", "5", "What can you do?"]);
    check(ended, { code: 4 });
    assert.notEqual(ended.stdout, "");
  });

  for (const wire of [CHAT, RESPONSES]) {
    it(`exits with 5 if the model refuses, over ${wire.name}`, async () => {
      await using place = await createPlace();
      await using upstream = await wire.start({ engine: script(reply.refusal("I will not.")) });
      const ended = await place.run(runAt(upstream, wire, "Do evil"));
      check(ended, { code: 5, stdout: "" });
      assert.match(ended.stderr, /^I will not\.$/m);
    });
  }

  it("exits with 124 when its time is up and keeps the partial answer", async () => {
    // The partial answer must come within the limit, too.
    await withGrowingLimit(1000, async (limitMs) => {
      await using place = await createPlace();
      await using upstream = await RESPONSES.start({ engine: script(reply.silence("Once upon")) });
      const seconds = String(limitMs / 1000);
      const args = runAt(upstream, RESPONSES, "--timeout", seconds, "Tell a story");
      const ended = await place.run(args);
      check(ended, { code: 124, stdout: "Once upon\n" });
      const late = `\noffshoot: The run's time limit of ${seconds} s passed.\n`;
      assert.ok(ended.stderr.endsWith(late), ended.stderr);
      const [id = ""] = await place.runIds();
      assert.equal((await place.show(id)).ending, "timeout");
    });
  });

  it("exits with 1 if a document never fits, and tells the model why each time", async () => {
    await using place = await createPlace({ "city.json": JSON.stringify(CITY_SCHEMA) });
    const answers = [1, 2, 3].map((population) => reply.text(`{"population":${population}}`));
    await using upstream = await CHAT.start({ engine: script(...answers) });
    const ended = await place.run(runAt(upstream, CHAT, "--schema", "city.json", "Paris?"));
    check(ended, { code: 1, stdout: "" });
    assert.match(
      ended.stderr,
      /\noffshoot: The answer does not fit the schema after 2 repairs: .*\n$/,
    );
    assert.equal(upstream.requests.length, 3);
    assert.match(JSON.stringify(bodyOf(upstream, 2)["messages"]), /must have required property/);
  });
});

function twice(text: string): [ReturnType<typeof reply.text>, ReturnType<typeof reply.text>] {
  return [reply.text(text), reply.text(text)];
}
