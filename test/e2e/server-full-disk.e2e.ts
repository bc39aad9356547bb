/** A server whose record cannot be written: it reports that in the API's form, and stays up. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { checkError, checkEvents } from "../conformance/check.ts";
import { programLack } from "../needs.ts";
import { patience, until } from "../patience.ts";
import { CLI, createPlace, type Place } from "./command.ts";
import { floodModel, startFlood } from "./flood.ts";
import { readEvents } from "./served.ts";

/**
 * The limit of any file that the server writes, in blocks of 512 or 1024 bytes: the record fits until it is
 * filled.
 */
const MOST_BLOCKS = 8192;

it("answers 507 when the disk is full, is not ready, continues with what needs no disk, and stays up", async () => {
  await using place = await createPlace();
  const server = await startLimited(place);
  try {
    const first = await ask(server.url, "POST", "/v1/responses", { input: "Hello" });
    assert.equal(first.status, 200);
    const { id } = first.body as EmittedResponse;
    const large = { input: "x".repeat(700_000) };
    const full = await until(async () => {
      const answer = await ask(server.url, "POST", "/v1/responses", large);
      return answer.status === 200 ? undefined : answer;
    }, "the disk is full");
    checkError(full, { status: 507, code: "store_full" });
    for (const body of [large, { ...large, stream: true }, { ...large, background: true }]) {
      const refused = await ask(server.url, "POST", "/v1/responses", body);
      checkError(refused, { status: 507, code: "store_full" });
    }
    const passing = await ask(server.url, "POST", "/v1/responses", { input: "Hi", store: false });
    assert.equal(passing.status, 200, JSON.stringify(passing.body));
    assert.deepEqual((await ask(server.url, "GET", `/v1/responses/${id}`)).body, first.body);
    assert.equal((await ask(server.url, "GET", "/healthz")).status, 200);
    // Smaller ones may fit for a while; then nothing does, and the server reports it.
    await until(async () => {
      const small = await ask(server.url, "POST", "/v1/responses", { input: "x".repeat(20_000) });
      const ready = await ask(server.url, "GET", "/readyz");
      return small.status === 507 && ready.status === 503 ? true : undefined;
    }, "nothing can be stored");
    assert.match(server.said(), /a request failed: The store .* could not be written/);
    assert.doesNotMatch(server.said(), /defect/);
    assert.equal(server.child.exitCode, null);
  } finally {
    server.child.kill("SIGKILL");
  }
});

it("ends a response that fills the disk as failed: in its stream, and in the record once there is space", async () => {
  await using place = await createPlace();
  // More than fits, even if a block is 1024 bytes.
  await using flood = await startFlood(40_000_000);
  const server = await startLimited(place, floodModel(flood));
  try {
    const made = await ask(server.url, "POST", "/v1/responses", { input: "Hi", background: true });
    const { id } = made.body as EmittedResponse;
    const { body } = await ask(server.url, "GET", `/v1/responses/${id}?stream=true`);
    assert.ok(String(body).endsWith("data: [DONE]\n\n"));
    const events = readEvents(String(body));
    checkEvents(events);
    const last = events.at(-1);
    assert.ok(last?.type === "response.failed");
    const read = async (): Promise<EmittedResponse> =>
      (await ask(server.url, "GET", `/v1/responses/${id}`)).body as EmittedResponse;
    // Its end may be what does not fit.
    const { status, output } = await read();
    if (status === "in_progress") assert.deepEqual(output, []);
    assert.equal((await ask(server.url, "GET", "/healthz")).status, 200);
    if (programLack("prlimit") !== undefined) return;
    makeRoom(server.child.pid ?? 0);
    const kept = await until(async () => {
      const found = await read();
      return found.status === "in_progress" ? undefined : found;
    }, "it has ended");
    assert.deepEqual([kept.status, kept.error], ["failed", last.response.error]);
    assert.equal(flood.asked, 1, "the number of requests does not change");
  } finally {
    server.child.kill("SIGKILL");
  }
});

for (const words of [
  ["store", "check"],
  ["store", "vacuum"],
  ["runs", "list"],
  ["keys", "create", "laptop"],
  ["run", "-m", "embedded", "Hello"],
  ["serve", "--port", "0", "--no-auth"],
]) {
  it(`\`offshoot ${words.join(" ")}\` says that the disk is full where the record cannot even be opened`, async () => {
    await using place = await createPlace();
    assert.equal((await place.run(["runs", "list"])).code, 0);
    // Not one byte: there is no space for the files that SQLite keeps beside the record.
    const { code, stderr } = await runLimited(place, 0, words);
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /^offshoot: .* could not be written.*\. Free some space on its disk\.\n$/m,
    );
  });
}

async function runLimited({ home, cwd }: Place, blocks: number, args: readonly string[]) {
  const child = startShell({ home, cwd }, blocks, args);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  const [code] = (await once(child, "close", { signal: patience() })) as [number | null];
  return { code, stderr };
}

function startShell(
  { home, cwd }: Pick<Place, "home" | "cwd">,
  blocks: number,
  args: readonly string[],
) {
  // Ignored before the program begins, so that a write past the limit fails and does not end it.
  const line = `trap "" XFSZ; ulimit -S -f ${blocks}; exec "$0" "$@"`;
  return spawn("/bin/sh", ["-c", line, process.execPath, CLI, ...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: home, OFFSHOOT_PROBE_LOCAL: "false" },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

function makeRoom(pid: number): void {
  execFileSync("prlimit", ["--pid", String(pid), "--fsize=unlimited:"]);
}

async function startLimited({ home, cwd }: Place, args: readonly string[] = []) {
  const words = ["serve", "--port", "0", "--no-auth", ...args];
  const child = startShell({ home, cwd }, MOST_BLOCKS, words);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    said += piece;
  });
  const url = await until(() => {
    assert.equal(child.exitCode, null, said);
    return /listening at (http[^\s,]+)[\s,]/.exec(said)?.[1];
  }, "the server's address");
  return { child, url, said: () => said };
}

async function ask(url: string, method: string, path: string, body?: object) {
  const sent = body ? { body: JSON.stringify(body) } : {};
  const answer = await fetch(`${url}${path}`, { method, ...sent });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return { status: answer.status, body: isJson ? (JSON.parse(text) as unknown) : text };
}
