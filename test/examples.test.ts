import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { askForWeather } from "../examples/own-tool.ts";
import { askScriptedModel } from "../examples/scripted-model.ts";

describe("the examples", () => {
  it("gives a run a tool of its own", async () => {
    assert.match(await askForWeather("Oslo"), /Oslo: 7 °C, rain/);
  });

  it("runs against a scripted model that fails once", async () => {
    assert.equal(await askScriptedModel(), "Hello from the script.");
  });
});
