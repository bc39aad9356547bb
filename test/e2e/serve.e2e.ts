/** `offshoot serve` as an operator runs it: start, stop, keys, TLS, new settings. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { request as askTls } from "node:https";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { startCollector } from "../delegation/telemetry-collector.ts";
import { until, untilTrue } from "../patience.ts";
import { openStream } from "../server/server-complaints-fixture.ts";
import { createPlace } from "./command.ts";
import { readEvents, serve, slowModel, startSlowUpstream } from "./served.ts";

const FIXTURES = new URL("../../../test/providers/fixtures/", import.meta.url);

describe("the served API", () => {
  it("answers, streams, stores, counts, and stops with 0", async () => {
    await using served = await serve();
    const made = await served.create({ input: "Hello" });
    assert.equal(made.status, "completed");
    const kept = await served.ask("GET", `/v1/responses/${made.id}`);
    assert.deepEqual(kept.body, made);
    const streamed = await served.ask("POST", "/v1/responses", { input: "Hello", stream: true });
    assert.equal(readEvents(String(streamed.body)).at(-1)?.type, "response.completed");
    const models = (await served.ask("GET", "/v1/models")).body as { data: { id: string }[] };
    assert.ok(models.data.some(({ id }) => id === "embedded/offline"));
    // A request is counted and logged when its answer has been sent, which its client may know earlier.
    const counted =
      /offshoot_requests_total\{method="POST",route="\/v1\/responses",status="200"\} 2/;
    const isCounted = async (): Promise<boolean> =>
      counted.test(String((await served.ask("GET", "/metrics")).body));
    await untilTrue(isCounted, "a count of two requests");
    const find = () => served.lines().find(({ target }) => target === made.id);
    const line = await until(find, "the line of the first request in the log");
    assert.equal(line["model"], "embedded/offline");
    assert.equal(line["output_tokens"], made.usage?.output_tokens);
    served.command.child.kill("SIGTERM");
    const { code, stderr } = await served.command.ended;
    assert.equal(code, 0, stderr);
    assert.ok(!stderr.includes("Hello"), "no prompt is logged");
  });

  it("does not start if it would ask itself, and creates no key then", async () => {
    await using place = await createPlace();
    const env = { OPENAI_API_KEY: "osk_1", OPENAI_BASE_URL: "http://localhost:8593/v1" };
    for (const more of [[], ["--workers", "2"]]) {
      const ended = await place.run(["serve", "--port", "8593", ...more], { env });
      assert.deepEqual([ended.code, ended.stdout], [2, ""]);
      assert.match(
        ended.stderr,
        /^offshoot: `OPENAI_BASE_URL` \(http:\/\/localhost:8593\/v1\) is .*\n$/,
      );
    }
  });

  it("creates a key at its first start, shows it once, and requires it", async () => {
    await using place = await createPlace();
    const first = place.start(["serve", "--port", "0"]);
    await first.waitForStdout("\n");
    await first.waitForStderr(/listening at .*\n/);
    const key = first.stdout.trim();
    assert.match(key, /^osk_/);
    first.child.kill("SIGTERM");
    const { stderr } = await first.ended;
    assert.ok(!stderr.includes(key), "the key is on standard output alone");
    const url = /listening at (\S+),/.exec(stderr)?.[1] ?? "";
    await assert.rejects(fetch(`${url}/healthz`), "it has stopped");

    const second = place.start(["serve", "--port", "0"]);
    await second.waitForStderr(/listening at \S+,.*\n/);
    second.child.kill("SIGTERM");
    assert.equal((await second.ended).stdout, "");
    await using served = await serve({ key: "fixed-key", place });
    assert.equal((await fetch(`${served.url}/v1/models`)).status, 401);
    assert.equal((await served.ask("GET", "/v1/models")).status, 200);
    const own = await fetch(`${served.url}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(own.status, 200);
    assert.equal((await fetch(`${served.url}/healthz`)).status, 200);
    assert.equal((await fetch(`${served.url}/metrics`)).status, 401);
  });

  it("finishes requests in flight before it stops", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: slowModel(upstream) });
    const body = JSON.stringify({ input: "Hi", stream: true });
    const answer = await fetch(`${served.url}/v1/responses`, { method: "POST", body });
    const plain = served.create({ input: "Hi" });
    await until(async () => (upstream.open === 2 ? true : undefined), "two are asked");
    served.command.child.kill("SIGTERM");
    await until(async () => (await isDraining(served.url)) || undefined, "nothing new is taken");
    const refused = await fetch(`${served.url}/v1/responses`, { method: "POST", body });
    assert.equal(refused.status, 503);
    upstream.say(" two");
    upstream.finish();
    const events = readEvents(await answer.text());
    assert.equal(events.at(-1)?.type, "response.completed");
    assert.equal((await plain).output_text, "One two");
    assert.equal((await served.command.ended).code, 0);
  });

  it("interrupts what takes too long, and continues it at the next start", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    const env = { OFFSHOOT_SERVER_DRAIN_SECONDS: "0.2" };
    const options = { args: slowModel(upstream), env, place };
    await using first = await serve(options);
    const { id } = await first.create({ input: "Hi", background: true });
    const follow = await openStream(first, `/v1/responses/${id}?stream=true`);
    await follow.until((text) => text.includes('"delta":"One"'));
    first.command.child.kill("SIGTERM");
    const cut = await follow.rest();
    assert.match(cut, /event: response.failed\n[^\n]+\n\ndata: \[DONE\]\n\n$/);
    assert.equal((await first.command.ended).code, 1);
    upstream.finish();
    await using second = await serve(options);
    const done = await until(async () => {
      const { body } = await second.ask("GET", `/v1/responses/${id}`);
      return (body as EmittedResponse).status === "completed"
        ? (body as EmittedResponse)
        : undefined;
    }, "it is finished");
    // The turn is requested again; its earlier text is not part of the answer.
    assert.deepEqual(
      done.output.map((item) => ("status" in item ? item.status : undefined)),
      ["completed"],
    );
    assert.equal(upstream.requests, 2);
  });

  it("ends at once at the second signal", async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: slowModel(upstream) });
    const plain = served.create({ input: "Hi" }).catch(() => "cut");
    await until(async () => (upstream.open === 1 ? true : undefined), "it is asked");
    served.command.child.kill("SIGINT");
    await until(async () => (await isDraining(served.url)) || undefined, "it stops");
    served.command.child.kill("SIGINT");
    assert.equal((await served.command.ended).code, 130);
    assert.equal(await plain, "cut");
  });

  it("applies new settings from its file, and refuses a broken one", async () => {
    await using place = await createPlace();
    const file = join(place.home, ".config", "offshoot", "config.yaml");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, "server:\n  models: { first: embedded/offline }\n");
    await using served = await serve({ place });
    const ids = async (): Promise<string[]> => {
      const { body } = await served.ask("GET", "/v1/models");
      return (body as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    assert.deepEqual(await ids(), ["first", "embedded/offline"]);
    await writeFile(file, "server:\n  models: { second: embedded/offline }\n  max_tools: 3\n");
    await until(async () => ((await ids()).includes("second") ? true : undefined), "the new name");
    await served.command.waitForStderr("new settings");
    assert.equal((await served.create({ model: "second", input: "Hello" })).status, "completed");

    await writeFile(file, "server:\n  models: { third: nobody/nothing }\n");
    await served.command.waitForStderr("the settings stay as they were:");
    assert.ok((await ids()).includes("second"));
    served.command.child.kill("SIGTERM");
    const { code, stderr } = await served.command.ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /settings stay as they were: [^\n]*config\.yaml:\d+:\d+: [^\n]*third/);
  });

  it("does not drop a stream for new settings", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    const file = join(place.home, ".config", "offshoot", "config.yaml");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, "");
    await using served = await serve({ place, args: slowModel(upstream) });
    const body = JSON.stringify({ input: "Hi", stream: true });
    const answer = await fetch(`${served.url}/v1/responses`, { method: "POST", body });
    await until(async () => (upstream.open === 1 ? true : undefined), "it is asked");
    served.command.child.kill("SIGHUP");
    await served.command.waitForStderr("new settings");
    upstream.say(" two");
    upstream.finish();
    assert.equal(readEvents(await answer.text()).at(-1)?.type, "response.completed");
  });

  it("serves HTTPS, and uses a new certificate", async () => {
    await using place = await createPlace();
    const cert = join(place.cwd, "cert.pem");
    const key = join(place.cwd, "key.pem");
    await writeFile(cert, await readFile(new URL("server.pem", FIXTURES)));
    await writeFile(key, await readFile(new URL("server-key.pem", FIXTURES)));
    await using served = await serve({ place, args: ["--tls-cert", cert, "--tls-key", key] });
    assert.match(served.url, /^https:/);
    const ca = await readFile(new URL("ca.pem", FIXTURES));
    const request = askTls(`${served.url.replace("127.0.0.1", "localhost")}/healthz`, { ca });
    request.end();
    const [answer] = (await once(request, "response")) as [{ statusCode: number; resume(): void }];
    answer.resume();
    assert.equal(answer.statusCode, 200);
    await writeFile(key, "no key");
    await served.command.waitForStderr("the settings stay as they were:");
    await writeFile(key, await readFile(new URL("server-key.pem", FIXTURES)));
    await served.command.waitForStderr("new settings");
  });

  it("gives a request a span below its client's, and the run's spans below that", async () => {
    await using collector = await startCollector();
    await using served = await serve({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const span = "b7ad6b7169203331";
    const answer = await fetch(`${served.url}/v1/responses`, {
      method: "POST",
      headers: { traceparent: `00-${trace}-${span}-01` },
      body: JSON.stringify({ input: "Hello" }),
    });
    const { id } = (await answer.json()) as EmittedResponse;
    served.command.child.kill("SIGTERM");
    assert.equal((await served.command.ended).code, 0);
    const spans = collector.spans();
    const request = spans.find(({ name }) => name === "POST /v1/responses");
    const run = spans.find(({ name }) => name.startsWith("invoke_agent"));
    assert.ok(request && run, JSON.stringify(spans.map(({ name }) => name)));
    assert.deepEqual([request.traceId, request.parentSpanId], [trace, span]);
    assert.deepEqual([run.traceId, run.parentSpanId], [trace, request.spanId]);
    assert.ok(JSON.stringify(request).includes(id));
    assert.equal(served.lines().find(({ target }) => target === id)?.["trace_id"], trace);
  });

  it("reports in one line what is wrong before it listens", async () => {
    await using place = await createPlace();
    await using served = await serve();
    const port = new URL(served.url).port;
    const cases = [
      { args: ["--port", port, "--no-auth"], code: 2, said: /something else listens there/ },
      { args: ["--tls-cert", "x.pem"], code: 2, said: /HTTPS needs both/ },
      {
        args: ["--tls-cert", "x.pem", "--tls-key", "y.pem", "--no-auth"],
        code: 2,
        said: /x\.pem: It cannot be read/,
      },
      { args: ["--tools", "nonsense", "--port", "0", "--no-auth"], code: 2, said: /No tool fits/ },
      { args: ["-m", "nobody/nothing"], code: 2, said: /Unknown vendor/ },
      {
        args: ["--workers", "2", "--port", port, "--no-auth"],
        code: 2,
        said: /something else listens there/,
      },
    ];
    for (const { args, code, said } of cases) {
      const ended = await place.run(["serve", ...args]);
      assert.match(ended.stderr, said, args.join(" "));
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, /^offshoot: [^\n]+\n$/);
    }
  });
});

/** Like a load balancer learns it, over a connection of its own. */
async function isDraining(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`, { headers: { connection: "close" } });
  return answer.status === 503 && (await answer.text()).includes("draining");
}
