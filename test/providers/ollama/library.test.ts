import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createTransport } from "../../../src/providers/http/transport.ts";
import {
  listOllamaModels,
  type OllamaPull,
  type PullProgress,
  pullOllamaModel,
} from "../../../src/providers/ollama/library.ts";
import { textExchange } from "../../../src/testing/exchange/exchange.ts";
import { startLoopback } from "../../../src/testing/loopback.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { startOllamaUpstream } from "../../../src/testing/ollama-upstream.ts";
import { patience } from "../../patience.ts";

const transport = createTransport({});
after(() => transport.close());

const serverAt = (baseUrl: string) => ({ transport, baseUrl, signal: patience() });

/** A server that gives the same answer to every request. */
const answering = (status: number, body: string, type = "application/x-ndjson") =>
  startLoopback({
    basePath: "",
    answer: async () => textExchange(status, body, { "content-type": type }),
  });

describe("the models of an Ollama server", () => {
  it("are listed with their abilities, whatever the end of the base URL", async () => {
    const models = {
      "qwen3:8b": { capabilities: ["completion", "tools"], bytes: 5_000, contextTokens: 40_960 },
    };
    await using upstream = await startOllamaUpstream({ models });
    for (const end of ["", "/", "/v1", "/api", "/api/chat"]) {
      assert.deepEqual(await listOllamaModels(serverAt(upstream.url + end)), [
        {
          name: "qwen3:8b",
          bytes: 5_000,
          parameters: "1M",
          quantization: "F32",
          capabilities: ["completion", "tools"],
          contextTokens: 40_960,
        },
      ]);
    }
  });

  it("are listed if the server has no details of one", async () => {
    await using server = await startLoopback({
      basePath: "",
      answer: async ({ path }) =>
        path === "/api/tags"
          ? textExchange(200, '{"models":[{"name":"a"},{"model":"b:1b"}]}')
          : textExchange(500, "{}"),
    });
    const nothing = { bytes: undefined, parameters: undefined, quantization: undefined };
    const unknown = { ...nothing, capabilities: undefined, contextTokens: undefined };
    assert.deepEqual(await listOllamaModels(serverAt(server.url)), [
      { name: "a", ...unknown },
      { name: "b:1b", ...unknown },
    ]);
  });

  it("are not taken from another program on the same port", async () => {
    await using page = await answering(200, "<html>Hello</html>", "text/html");
    await assert.rejects(listOllamaModels(serverAt(page.url)), {
      code: "provider_broke_protocol",
      message: /is not an Ollama server/,
    });
    await using refusing = await answering(401, '{"error":"unauthorized"}');
    await assert.rejects(listOllamaModels(serverAt(refusing.url)), {
      code: "provider_unauthorized",
    });
  });
});

describe("pulling a model", () => {
  const pullFrom = (baseUrl: string, more: Partial<OllamaPull> = {}): Promise<void> =>
    pullOllamaModel({ ...serverAt(baseUrl), name: "tiny", clock: createManualClock(), ...more });

  it("reports progress, over all layers", async () => {
    await using upstream = await startOllamaUpstream({ registry: { tiny: 1000 } });
    const seen: PullProgress[] = [];
    await pullFrom(upstream.url, { onProgress: (progress) => seen.push(progress) });
    assert.deepEqual(
      seen.map(({ status, bytes, totalBytes }) => [status.split(" ")[0], bytes, totalBytes]),
      [
        ["pulling", 0, undefined],
        ["pulling", 0, 750],
        ["pulling", 375, 750],
        ["pulling", 750, 750],
        ["pulling", 750, 1000],
        ["pulling", 875, 1000],
        ["pulling", 1000, 1000],
        ["verifying", 1000, 1000],
        ["writing", 1000, 1000],
        ["success", 1000, 1000],
      ],
    );
  });

  it("counts fetched bytes only", async () => {
    const clock = createManualClock();
    const step = (completed: number) => ({
      status: "pulling a",
      digest: "a",
      total: 100,
      completed,
    });
    const steps = [step(40), step(90), { status: "success" }];
    await using server = await answering(
      200,
      steps.map((entry) => `${JSON.stringify(entry)}\n`).join(""),
    );
    const rates: number[] = [];
    // The clock stands still within one read, so it is moved before the pull reads it again.
    const moving = { ...clock, now: () => clock.now() + 1000 * rates.length };
    await pullFrom(server.url, { clock: moving, onProgress: (p) => rates.push(p.bytesPerSecond) });
    assert.deepEqual(rates, [0, 50, 25]);
  });

  it("reports a name that the library does not have", async () => {
    await using upstream = await startOllamaUpstream({});
    await assert.rejects(pullFrom(upstream.url, { name: "gone" }), {
      code: "not_found",
      message: /no model `gone`/,
    });
    await using refusing = await answering(400, '{"error":"invalid model name"}');
    await assert.rejects(pullFrom(refusing.url), { code: "not_found" });
  });

  it("is not complete if the server stops in the middle, or fails", async () => {
    await using cut = await answering(200, '{"status":"pulling manifest"}\n');
    await assert.rejects(pullFrom(cut.url), {
      code: "provider_broke_protocol",
      message: /Run the command again/,
    });
    await using full = await answering(200, '{"error":"write: no space left on device"}\n');
    await assert.rejects(pullFrom(full.url), {
      code: "provider_failed",
      message: /no space left on device/,
    });
    await using broken = await answering(500, '{"error":"registry is away"}');
    await assert.rejects(pullFrom(broken.url), { message: /500: registry is away/ });
  });

  it("stops when it is cancelled", async () => {
    await using upstream = await startOllamaUpstream({ registry: { tiny: 10 } });
    const abort = new AbortController();
    abort.abort();
    await assert.rejects(pullFrom(upstream.url, { signal: abort.signal }), { code: "cancelled" });
  });
});
