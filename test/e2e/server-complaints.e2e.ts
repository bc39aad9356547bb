/**
 * Complaints about other servers that only a process of its own can show: the built command, killed,
 * restarted, and observed from outside. The numbers are those of docs/server-complaints.md.
 */

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { until } from "../patience.ts";
import { createPlace } from "./command.ts";
import { readEvents, type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

describe("complaints about other servers, over the built command", () => {
  it("5, 6: a response in the background outlives `kill -9`, and its stream continues where it was interrupted", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    const args = slowModel(upstream);
    const first = await serve({ args, place });
    const { id } = await first.create({ input: "Hi", background: true });
    const cut = await readUntil(first, `/v1/responses/${id}?stream=true`, '"delta":"One"');
    first.command.child.kill("SIGKILL");
    await first.command.ended;

    upstream.finish();
    await using second = await serve({ args, place });
    const seen = readEvents(cut);
    const after = seen.at(-1)?.sequence_number;
    const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
    const rest = readEvents(String((await second.ask("GET", path)).body));
    const numbers = [...seen, ...rest].map(({ sequence_number }) => sequence_number);
    assert.deepEqual(
      numbers,
      numbers.map((_, at) => at),
    );
    assert.equal(rest.at(-1)?.type, "response.completed");
    const kept = (await second.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
    assert.equal(kept.status, "completed");
    assert.match(kept.output_text, /One/);
  });

  it("6: every worker sees, follows and cancels what another one runs", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: [...slowModel(upstream), "--workers", "2"] });
    const { id } = await served.create({ input: "Hi", background: true });
    // A connection for each request: they go to the workers in turn.
    for (let count = 0; count < 4; count++) {
      const { status, body } = await served.ask("GET", `/v1/responses/${id}`);
      assert.equal(status, 200);
      assert.match((body as EmittedResponse).status, /^(queued|in_progress)$/);
    }
    await readUntil(served, `/v1/responses/${id}?stream=true`, '"delta":"One"');
    const cancelled = await served.ask("POST", `/v1/responses/${id}/cancel`);
    assert.equal((cancelled.body as EmittedResponse).status, "cancelled");
    await until(async () => (upstream.open === 0 ? true : undefined), "the model is let go");
  });

  it("7: a client that is gone leaves its stored run running", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: slowModel(upstream) });
    const body = { input: "Hi", stream: true };
    const [first] = readEvents(await readUntil(served, "/v1/responses", '"delta":"One"', body));
    assert.ok(first && "response" in first);
    upstream.say(" two");
    upstream.finish();
    const { id } = first.response;
    const ended = await until(async () => {
      const { body: kept } = await served.ask("GET", `/v1/responses/${id}`);
      return (kept as EmittedResponse).status === "completed" ? kept : undefined;
    }, "it has ended");
    assert.equal((ended as EmittedResponse).output_text, "One two");
  });

  it("9: what is not stored is nowhere: no file, no line of the log", async () => {
    await using served = await serve();
    const asked = { input: "MARKER-PROMPT", instructions: "MARKER-RULE", store: false };
    await served.create(asked);
    await served.ask("POST", "/v1/responses", { ...asked, stream: true });
    const made = await served.create({ input: "Hello" });
    served.command.child.kill("SIGTERM");
    const { code, stderr } = await served.command.ended;
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /MARKER/);
    const files = await readAll(served.place.home);
    assert.ok(files.some((bytes) => bytes.includes(made.id.slice("resp_".length))));
    assert.ok(files.every((bytes) => !bytes.includes("MARKER")));
  });

  it("17: pieces come one at a time, and the first before the model has ended", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: slowModel(upstream) });
    const body = JSON.stringify({ input: "Hi", stream: true });
    const answer = await fetch(`${served.url}/v1/responses`, { method: "POST", body });
    const reader = (answer.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const read = async (piece: string): Promise<void> => {
      while (!text.includes(`"delta":"${piece}"`)) {
        const { done, value } = await reader.read();
        assert.ok(!done, text);
        text += value;
      }
    };
    await read("One");
    for (const piece of [" two", " three", " four"]) {
      assert.ok(!text.includes(piece));
      upstream.say(piece);
      await read(piece);
    }
    assert.equal(upstream.open, 1);
    upstream.finish();
    await read(" four");
    for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value;
    assert.ok(text.endsWith("data: [DONE]\n\n"));
  });
});

/** Reads a stream up to a text; then the client disconnects. */
async function readUntil(
  { url }: Served,
  path: string,
  end: string,
  body?: object,
): Promise<string> {
  const away = new AbortController();
  const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const answer = await fetch(`${url}${path}`, { ...init, signal: away.signal });
  const reader = (answer.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(end)) {
    const { done, value } = await reader.read();
    assert.ok(!done, text);
    text += value;
  }
  away.abort();
  await reader.cancel().catch(() => {});
  // Half an event does not count.
  return text.slice(0, text.lastIndexOf("\n\n") + 2);
}

async function readAll(folder: string): Promise<Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))));
}
