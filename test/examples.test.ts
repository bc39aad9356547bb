import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { askReviewer } from "../examples/agents-in-code.ts";
import { runWithPage, sayYes } from "../examples/approval.ts";
import { audit } from "../examples/budgeted-delegation.ts";
import { askOwnModel } from "../examples/custom-provider.ts";
import { askForWeather } from "../examples/own-tool.ts";
import { begin, goOn } from "../examples/resume.ts";
import { askScriptedModel } from "../examples/scripted-model.ts";
import { streamAnswer } from "../examples/stream.ts";
import { findScriptedCity } from "../examples/structured-output.ts";
import { createRuntime } from "../src/index.ts";
import { createWorkspaceFolder } from "./tools/workspace-folder.ts";

describe("the examples", () => {
  it("gives a run a tool of its own", async () => {
    assert.match(await askForWeather("Oslo"), /Oslo: 7 °C, rain/);
  });

  it("runs against a scripted model that fails once", async () => {
    assert.equal(await askScriptedModel(), "Hello from the script.");
  });

  it("streams an answer, and says when it is not complete", async () => {
    let text = "";
    for await (const piece of streamAnswer("compute 6*7")) text += piece;
    assert.match(text, /42/);
    await assert.rejects(async () => {
      for await (const _ of streamAnswer("paint me a picture of love"));
    }, /refused/);
  });

  it("gives a document that fits its schema, after one that did not", async () => {
    assert.deepEqual(await findScriptedCity(), { city: "Paris", country: "France" });
  });

  it("delegates three parts within one budget", async () => {
    const { text, tokens, started } = await audit(200_000);
    assert.equal(text, "All three parts are audited.");
    assert.deepEqual([...started].sort(), ["parser", "printer", "tests"]);
    assert.ok(tokens > 0 && tokens <= 200_000);
  });

  it("calls an agent that a program wrote", async () => {
    assert.match(await askReviewer(), /main\.ts:7 divides by zero/);
  });

  it("answers by a model of its own", async () => {
    assert.equal(await askOwnModel("Hello"), "You said: Hello");
  });

  it("waits for the answer that is given on a page", async () => {
    using folder = createWorkspaceFolder();
    assert.equal(await runWithPage(folder.root, sayYes), "Written.");
    assert.equal(await readFile(join(folder.root, "hello.txt"), "utf8"), "Hello");
  });

  it("finds runs of a record again that nobody works on, and none that have ended", async () => {
    using folder = createWorkspaceFolder();
    const storePath = join(folder.root, "record.db");
    const id = await begin(storePath, "compute 6*7");
    assert.deepEqual(await goOn(storePath), []);
    const runtime = await createRuntime({ storePath });
    assert.equal((await (await runtime.attach(id)).result()).ending, "completed");
    await runtime.close();
  });
});
