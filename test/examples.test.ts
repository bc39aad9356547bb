import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { askReviewer } from "../examples/agents-in-code.ts";
import { runWithPage } from "../examples/approval.ts";
import { askInBackground, readEvent } from "../examples/background-webhook.ts";
import { audit, SMALL_BUDGET } from "../examples/budgeted-delegation.ts";
import { askOwnModel, parrot } from "../examples/custom-provider.ts";
import { askSite, openSite } from "../examples/embed-server.ts";
import { askForWeather } from "../examples/own-tool.ts";
import { askScriptedModel } from "../examples/scripted-model.ts";
import { streamAnswer } from "../examples/stream.ts";
import { findScriptedCity } from "../examples/structured-output.ts";
import { until } from "./patience.ts";
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

  it("starts no subagent that a small budget does not pay for, and stays below it", async () => {
    const { text, tokens, started, refused } = await audit(SMALL_BUDGET);
    assert.equal(text, "All three parts are audited.");
    assert.equal(started.length, 2, started.join());
    assert.equal(refused.length, 1);
    assert.match(refused[0] ?? "", /Not started/);
    assert.ok(tokens > 0 && tokens <= SMALL_BUDGET);
  });

  it("calls an agent that a program wrote", async () => {
    assert.match(await askReviewer(), /main\.ts:7 divides by zero/);
  });

  it("answers by a model of its own", async () => {
    const pieces: string[] = [];
    for await (const piece of askOwnModel("Hello, my friend")) pieces.push(piece);
    assert.equal(pieces.join(""), "You said: Hello, my friend");
    const item = { type: "message", role: "user", content: "Hello, my friend" };
    const call = { signal: new AbortController().signal } as never;
    const count = async (items: readonly object[]): Promise<number> => {
      let deltas = 0;
      for await (const events of parrot.stream({ items } as never, call)) {
        deltas += events.filter(({ type }) => type === "text_delta").length;
      }
      return deltas;
    };
    assert.equal(await count([item]), 5, "word by word");
    await assert.rejects(count([]), /Say something/);
  });

  it("answers at one port with a page of its own and with the server", async () => {
    const site = await openSite();
    try {
      assert.equal(await (await fetch(`${site.url}/hello`)).text(), "Hello from the site");
      assert.equal(await askSite(site.url, site.key, "compute 6*7"), "6*7 = 42");
      await assert.rejects(askSite(site.url, "wrong", "compute 6*7"), /answered 401/);
    } finally {
      await site.close();
    }
  });

  it("a client receives a webhook when a background response has ended", async () => {
    const said = await askInBackground("compute 6*7");
    assert.deepEqual(said, ["queued", "response.completed: 6*7 = 42"]);
  });

  it("takes no webhook that is not signed, or not with its secret, or old", () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const body = '{"id":"evt_1","type":"response.completed","data":{"id":"resp_1"}}';
    const sign = (seconds: number, key: Buffer) => ({
      "webhook-id": "evt_1",
      "webhook-timestamp": String(seconds),
      "webhook-signature": `v1,other v1,${createHmac("sha256", key).update(`evt_1.${seconds}.${body}`).digest("base64")}`,
    });
    const now = Math.floor(Date.now() / 1000);
    assert.equal(readEvent(body, sign(now, Buffer.alloc(32, 7)), secret)?.id, "evt_1");
    assert.equal(readEvent(body, {}, secret), undefined);
    assert.equal(readEvent(body, sign(now, Buffer.alloc(32, 8)), secret), undefined);
    assert.equal(readEvent(`${body} `, sign(now, Buffer.alloc(32, 7)), secret), undefined);
    assert.equal(readEvent(body, sign(now - 3600, Buffer.alloc(32, 7)), secret), undefined);
  });

  for (const [button, written] of [
    ["yes", "<Hello>"],
    ["no", undefined],
  ] as const) {
    it(`waits for the answer on a page, here ${button}, and shows what a model wrote as text`, async () => {
      using folder = createWorkspaceFolder();
      const answered = await runWithPage(folder.root, async (url) => {
        const page = await until(async () => {
          const text = await (await fetch(url)).text();
          return text.includes("Allow this call?") ? text : undefined;
        }, "the question");
        assert.match(page, /&lt;Hello>/);
        assert.equal((await fetch(`${url}/${button}`, { method: "POST" })).status, 200);
      });
      assert.equal(answered, "The model has read the result.");
      const text = await readFile(join(folder.root, "hello.txt"), "utf8").catch(() => undefined);
      assert.equal(text, written);
    });
  }
});

describe("examples/README.md", () => {
  it("names every example, and no other", async () => {
    const folder = new URL("../../examples/", import.meta.url);
    const page = await readFile(new URL("README.md", folder), "utf8");
    const named = [...page.matchAll(/^\| \[([\w.-]+)\]\(\1\)/gm)].map(([, name]) => name);
    const files = (await readdir(folder)).filter((name) => name !== "README.md");
    assert.deepEqual(named.sort(), files.sort());
  });
});
