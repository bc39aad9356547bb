/** An answer whose process was killed is made again: its earlier text is not part of the response. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { checkEvents } from "../conformance/check.ts";
import { until } from "../patience.ts";
import { createPlace } from "./command.ts";
import { readEvents, type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

const RESPONSES = 6;
const HALF = " half of it";

for (const workers of [1, 3]) {
  const options = { timeout: 240_000, skip: workers > 1 && process.platform !== "linux" };
  it(`contains only finished work after a kill, with ${workers} worker(s)`, options, async () => {
    await using place = await createPlace();
    await using upstream = await startSlowUpstream();
    const args = [...slowModel(upstream), "--workers", String(workers)];
    const first = await serve({ place, args });
    const made = await first.ask("POST", "/v1/conversations", {});
    const { id: conversation } = made.body as { id: string };
    const ids: string[] = [];
    for (let number = 0; number < RESPONSES; number++) {
      const where = number === 0 ? { conversation } : {};
      ids.push((await first.create({ input: "Hi", background: true, ...where })).id);
    }
    await until(
      async () => (upstream.open === RESPONSES ? true : undefined),
      "all are being answered",
    );
    upstream.say(HALF);
    await Promise.all(ids.map((id) => hear(first, id, HALF)));
    await kill(first, workers);
    upstream.finish();
    await using second = await serve({ place, args });
    for (const id of ids) await checkTakenOver(second, id);
    assert.ok(upstream.bodies.some((body) => body.includes("And?")));
    for (const body of upstream.bodies) assert.doesNotMatch(body, /half/, "no model hears of it");
    const listed = await second.ask("GET", `/v1/conversations/${conversation}/items`);
    assert.equal((listed.body as { data: unknown[] }).data.length, 2);
    assert.doesNotMatch(JSON.stringify(listed.body), /half/);
  });

  async function checkTakenOver(served: Served, id: string): Promise<void> {
    const path = `/v1/responses/${id}`;
    const response = await until(async () => {
      const body = (await served.ask("GET", path)).body as EmittedResponse;
      return body.status === "completed" ? body : undefined;
    }, `${id} is finished`);
    assert.deepEqual([response.output.length, response.output_text], [1, "One"]);
    const texts = [1, 2].map(async () =>
      String((await served.ask("GET", `${path}?stream=true`)).body),
    );
    const [text = "", again] = await Promise.all(texts);
    assert.equal(again, text, "the stream is told the same");
    const events = readEvents(text);
    checkEvents(events, { takenOver: true });
    const cut = events.flatMap((event) =>
      event.type === "response.output_item.done" && JSON.stringify(event.item).includes(HALF)
        ? [event.item]
        : [],
    );
    assert.equal(cut.length, 1);
    for (const item of cut) assert.ok("status" in item && item.status === "incomplete");
    const next = await served.create({ input: "And?", previous_response_id: id });
    assert.equal(next.status, "completed");
  }
}

/** Follows until the text has come. */
async function hear({ url }: Served, id: string, text: string): Promise<void> {
  const leave = new AbortController();
  const path = `${url}/v1/responses/${id}?stream=true`;
  const answer = await fetch(path, { signal: leave.signal });
  let heard = "";
  const pieces = (answer.body ?? assert.fail()).pipeThrough(new TextDecoderStream());
  for await (const piece of pieces) {
    heard += piece;
    if (heard.includes(text)) break;
  }
  leave.abort();
}

/** The workers before the process that would replace them. */
async function kill({ command }: Served, workers: number): Promise<void> {
  const { pid } = command.child;
  const path = `/proc/${pid}/task/${pid}/children`;
  const children = workers > 1 ? (await readFile(path, "utf8")).trim().split(/\s+/) : [];
  command.child.kill("SIGSTOP");
  for (const child of children) process.kill(Number(child), "SIGKILL");
  command.child.kill("SIGKILL");
  await command.ended;
}
