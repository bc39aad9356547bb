/** Vendors of the user's own in the server and in children with processes of their own. */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reply, respond, startChatUpstream, type Upstream } from "../../src/testing/index.ts";
import { createPlace, type Place } from "./command.ts";
import { serve } from "./served.ts";

const KEYS = { GPU1_KEY: "key-of-gpu-1", GPU2_KEY: "key-of-gpu-2", TEAM: "key-of-team" };

/** A place whose user has two servers in the settings. */
async function createPlaceWith(urls: readonly [string, string], more = ""): Promise<Place> {
  const place = await createPlace({ "src/a.ts": "line\n", "test/b.ts": "line\n" });
  const folder = join(place.home, ".config/offshoot");
  await mkdir(folder, { recursive: true });
  const vendors = urls.map(
    (url, at) =>
      `  gpu${at + 1}: {url: "${url}", api_key_name: GPU${at + 1}_KEY, headers: {x-team: $TEAM}}\n`,
  );
  await writeFile(join(folder, "config.yaml"), `vendors:\n${vendors.join("")}${more}`);
  return place;
}

const says = (text: string, key: string): Promise<Upstream> =>
  startChatUpstream({ engine: respond(() => reply.text(text)), key });

describe("vendors of the settings", () => {
  it("answer clients of the server, by their own names and by names of the server", async () => {
    await using gpu1 = await says("from gpu1", KEYS.GPU1_KEY);
    await using gpu2 = await says("from gpu2", KEYS.GPU2_KEY);
    const more = "model: embedded\nserver.models: {fast: gpu1/q}\n";
    const place = await createPlaceWith([gpu1.url, gpu2.url], more);
    await using served = await serve({ place, env: KEYS });
    const texts: unknown[] = [];
    for (const model of ["fast", "gpu1/q", "gpu2/org/large"]) {
      const { output } = await served.create({ model, input: "Hi" });
      const [item] = output as unknown as { content: { text: string }[] }[];
      texts.push(item?.content[0]?.text);
    }
    assert.deepEqual(texts, ["from gpu1", "from gpu1", "from gpu2"]);
    assert.equal(gpu2.requests[0]?.body["model"], "org/large");
    const unknown = await served.ask("POST", "/v1/responses", { model: "gpu3/x", input: "Hi" });
    assert.equal(unknown.status, 400);
  });

  it("are listed to clients with the models that the settings give them", async () => {
    const models = "    models: {q: {context_tokens: 9000}}\n";
    const vendors = `vendors:\n  gpu1:\n    url: http://127.0.0.1:9/v1\n${models}`;
    await using place = await createPlace();
    await mkdir(join(place.home, ".config/offshoot"), { recursive: true });
    const file = join(place.home, ".config/offshoot/config.yaml");
    await writeFile(file, `model: embedded\n${vendors}`);
    await using served = await serve({ place });
    const { body } = await served.ask("GET", "/v1/models");
    const { data } = body as { data: { id: string; owned_by: string }[] };
    assert.equal(data.find(({ id }) => id === "gpu1/q")?.owned_by, "gpu1");
  });

  it("are asked by children in processes of their own, with their keys and headers", async () => {
    // The embedded model answers inside it: it delegates, and counts.
    await using gpu1 = await startChatUpstream({ key: KEYS.GPU1_KEY });
    await using gpu2 = await says("nobody asks it", KEYS.GPU2_KEY);
    const more = "models: {gpu1/q: {headers: {x-model: $MODEL_VALUE}}}\n";
    await using place = await createPlaceWith([gpu1.url, gpu2.url], more);
    const env = {
      MODEL_VALUE: "of-the-model",
      ...KEYS,
      OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: "child_process",
    };
    const prompt = "ask two subagents in parallel to count the lines of src and test";
    const ended = await place.run(["run", "-m", "gpu1/q", prompt], { env });
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /`src`: The text files in `src` have 1 line/);
    assert.ok(gpu1.requests.length > 2);
    for (const { headers } of gpu1.requests) {
      assert.deepEqual([headers["x-team"], headers["x-model"]], [KEYS.TEAM, "of-the-model"]);
    }
    assert.equal(gpu2.requests.length, 0);
  });
});
