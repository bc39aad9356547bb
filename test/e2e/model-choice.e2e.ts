/** The model that `run` uses, and the line that says why, in the order of precedence. */

import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { reply, script, startOllamaUpstream, type Upstream } from "../../src/testing/index.ts";
import { unless } from "../needs.ts";
import { until } from "../patience.ts";
import { createPlace, type Place } from "./command.ts";
import { RESPONSES } from "./wires.ts";

const KEY = "test-key-0123456789";
const PROBE = { OFFSHOOT_PROBE_LOCAL: "true" };
function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** A stand-in for OpenAI on this machine: answers each request, requires the key. */
function startOpenAi(): Promise<Upstream> {
  return RESPONSES.start({ engine: script(reply.text("from OpenAI")), key: KEY });
}

/** A project whose file is trusted: only such a file may choose a model. */
async function createProject(config: string): Promise<Place> {
  const place = await createPlace({ ".offshoot/config.yaml": config });
  assert.equal((await place.run(["config", "trust"])).code, 0);
  return place;
}

describe("the model", async () => {
  it("is the one of -m before all others", async () => {
    await using place = await createProject("model: openai/gpt-5.1\n");
    const env = {
      OFFSHOOT_MODEL: "groq/x",
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    };
    const ended = await place.run(["run", "-m", "embedded", "compute 6*7"], { env });
    assert.equal(firstLine(ended.stderr), "model: embedded/offline (--model)");
    assert.deepEqual([ended.code, ended.stdout], [0, "6*7 = 42\n"]);
  });

  it("is that of OFFSHOOT_MODEL before a file", async () => {
    await using place = await createProject("model: openai/gpt-5.1\n");
    const ended = await place.run(["run", "compute 6*7"], { env: { OFFSHOOT_MODEL: "embedded" } });
    assert.equal(firstLine(ended.stderr), "model: embedded/offline (OFFSHOOT_MODEL)");
    assert.equal(ended.code, 0);
  });

  it("is that of the project's file before a key that is set", async () => {
    await using place = await createProject("model: embedded\n");
    const ended = await place.run(["run", "compute 6*7"], { env: { OPENAI_API_KEY: KEY } });
    const line = firstLine(ended.stderr);
    assert.match(line, /^model: embedded\/offline \(project file .*\.offshoot\/config\.yaml\)$/);
    assert.equal(ended.code, 0);
  });

  it("is not that of a project's file without trust", async () => {
    await using place = await createPlace({ ".offshoot/config.yaml": "model: groq/x\n" });
    const ended = await place.run(["run", "compute 6*7"], {
      env: { OFFSHOOT_PROBE_LOCAL: "false" },
    });
    assert.match(firstLine(ended.stderr), /is not trusted, so `model` in it is ignored/);
    assert.deepEqual([ended.code, ended.stdout], [0, "6*7 = 42\n"]);
  });

  it("is that of the user's file", async () => {
    await using place = await createPlace();
    assert.equal((await place.run(["config", "set", "model", "embedded"])).code, 0);
    const ended = await place.run(["run", "compute 6*7"], { env: { OPENAI_API_KEY: KEY } });
    assert.match(
      firstLine(ended.stderr),
      /^model: embedded\/offline \(user file .*config\.yaml\)$/,
    );
  });

  it("is that of the vendor whose key is in the environment", async () => {
    await using place = await createPlace();
    await using upstream = await startOpenAi();
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: upstream.url };
    const ended = await place.run(["run", "Hi"], { env });
    assert.match(firstLine(ended.stderr), /^model: openai\/\S+ \(`OPENAI_API_KEY` is set; choose /);
    assert.deepEqual([ended.code, ended.stdout], [0, "from OpenAI\n"]);
    assert.equal(upstream.requests[0]?.headers.authorization, `Bearer ${KEY}`);
  });

  it("is that of a local server that answers, if no key is set", async () => {
    await using place = await createPlace();
    await using upstream = await startOllama();
    const { host } = new URL(upstream.url);
    const env = { ...PROBE, OLLAMA_HOST: host };
    // A server has little time to answer: on a busy machine it may take several attempts.
    const ended = await until(async () => {
      const found = await place.run(["run", "Hi"], { env });
      return firstLine(found.stderr).includes("embedded/offline") ? undefined : found;
    }, "a run that finds the server");
    const line = firstLine(ended.stderr);
    assert.ok(
      line.startsWith(`model: ollama/qwen3:8b (no key set; found at ${host}; choose `),
      line,
    );
    assert.deepEqual([ended.code, ended.stdout], [0, "from Ollama\n"]);
    assert.ok(upstream.requests.some(({ body }) => body["model"] === "qwen3:8b"));
  });

  it("is not looked for on this machine if that is switched off", async () => {
    await using place = await createPlace();
    await using upstream = await startOllama();
    const env = { OLLAMA_HOST: upstream.url, OFFSHOOT_PROBE_LOCAL: "false" };
    const ended = await place.run(["run", "compute 6*7"], { env });
    assert.match(firstLine(ended.stderr), /^model: embedded\/offline /);
  });

  it("is the same in the list of `models` as in `run`", async () => {
    await using place = await createPlace();
    await using upstream = await startOllama();
    const env = { ...PROBE, OLLAMA_HOST: upstream.url };
    const list = async (): Promise<string[]> => {
      const { stdout } = await place.run(["models", "--json"], { env });
      return (JSON.parse(stdout) as { model: string }[]).map(({ model }) => model);
    };
    const found = await until(async () => {
      const models = await list();
      return models.length > 1 ? models : undefined;
    }, "a list with the server's model");
    assert.deepEqual(found, ["ollama/qwen3:8b", "embedded/offline"]);
  });

  // Only Ollama can be moved away; the others are looked for at their usual ports.
  const isBusy = (await Promise.all([8080, 1234].map(isOpen))).includes(true);
  const free = unless(isBusy ? "a program listens on port 8080 or 1234" : undefined);
  it(...free("is the embedded one where there is nothing else"), async () => {
    await using place = await createPlace();
    const env = { ...PROBE, OLLAMA_HOST: "127.0.0.1:9" };
    const ended = await place.run(["run", "compute 6*7"], { env });
    assert.match(firstLine(ended.stderr), /^model: embedded\/offline \(no key, no local server/);
  });
});

function startOllama(): Promise<Upstream> {
  const models = { "qwen3:8b": { capabilities: ["completion", "tools"] } };
  return startOllamaUpstream({ engine: script(reply.text("from Ollama")), models });
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
