/** The vendor's own fields and headers: from the settings to the request that is sent. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { layOver } from "../../src/protocol/own-options.ts";
import { checkModels, toModelOverrides } from "../../src/runtime/config/config-models.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/runtime/runtime.ts";
import { type OpenUpstream, startOpenUpstream } from "../open-upstream.ts";

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function startServer(): Promise<OpenUpstream> {
  const server = await startOpenUpstream();
  closers.push(() => server.close());
  return server;
}

async function ask(url: string, options: RuntimeOptions): Promise<string> {
  const runtime: Runtime = await createRuntime({ env: {}, ...options });
  closers.push(() => runtime.close());
  const run = await runtime.run({ input: "Hi", model: "custom/mine", url, root: "/" });
  return (await run.result()).message;
}

const rows = (row: JsonObject): RuntimeOptions => ({
  overrides: toModelOverrides(checkModels({ "custom/*": row }, "config")),
});

describe("a vendor's own fields", () => {
  it("are in the body of each request; those of the run override those of the model's row", async () => {
    const { url, sent } = await startServer();
    const row = { options: { top_k: 5, seed: 7, chat_template_kwargs: { a: 1 } } };
    const options = { top_k: 40, chat_template_kwargs: { b: 2 } };
    assert.equal(await ask(url, { ...rows(row), options }), "");
    const { top_k, seed, chat_template_kwargs, model } = sent[0]?.body ?? {};
    assert.deepEqual([top_k, seed, model], [40, 7, "mine"]);
    assert.deepEqual(chat_template_kwargs, { a: 1, b: 2 });
  });

  it("leave the body unchanged if there are none", () => {
    const body = { model: "m" };
    assert.equal(layOver(body, undefined), body);
    assert.deepEqual(layOver({ stop: ["a"], x: { y: 1 } }, { stop: ["b"], x: 2 }), {
      stop: ["b"],
      x: 2,
    });
  });

  it("cannot change how an answer is read", () => {
    const row = { options: { stream: false } };
    assert.throws(() => rows(row), /`options` cannot set `stream`/);
  });
});

describe("options of a run", () => {
  it("override those of the settings, and are in its record", async () => {
    const { url, sent } = await startServer();
    const runtime = await createRuntime({ env: {}, options: { top_k: 1, a: { b: 1 } } });
    closers.push(() => runtime.close());
    const options = { top_k: 5, a: { c: 2 } };
    const asked = { input: "Hi", model: "custom/mine", url, root: "/", options };
    const run = await runtime.run(asked);
    await run.result();
    const { top_k, a } = sent[0]?.body ?? {};
    assert.deepEqual({ top_k, a }, { top_k: 5, a: { b: 1, c: 2 } });
    for await (const [first] of run.follow()) {
      assert.ok(first?.event.type === "run_start");
      assert.deepEqual(first.event.settings.options, { top_k: 5, a: { b: 1, c: 2 } });
      break;
    }
  });

  it("cannot set what Offshoot writes", async () => {
    const { url } = await startServer();
    const runtime = await createRuntime({ env: {} });
    closers.push(() => runtime.close());
    const asked = { input: "Hi", model: "custom/mine", url, root: "/", options: { n: 2 } };
    await assert.rejects(runtime.run(asked), /`options` cannot set `n`: budgets rely/);
  });
});

describe("a vendor's own headers", () => {
  it("are sent with each request, with the values of variables that they name", async () => {
    const { url, sent } = await startServer();
    const row = { headers: { "X-Team": "research", "x-team-key": "$TEAM_KEY" } };
    const env = { TEAM_KEY: "k-0123456789" };
    assert.equal(await ask(url, { ...rows(row), env }), "");
    assert.equal(sent[0]?.headers["x-team"], "research");
    assert.equal(sent[0]?.headers["x-team-key"], "k-0123456789");
  });

  it("fail in one line if the variable is not set", async () => {
    const { url, sent } = await startServer();
    const asked = ask(url, rows({ headers: { "x-team-key": "$TEAM_KEY" } }));
    await assert.rejects(asked, /header `x-team-key` needs the variable `TEAM_KEY`/);
    assert.equal(sent.length, 0);
  });

  it("are refused if they would break the request", () => {
    for (const headers of [{ "a b": "c" }, { a: "b\r\nc: d" }, { a: 1 }, ["a"]]) {
      assert.throws(() => rows({ headers }), /`headers`/);
    }
  });
});
