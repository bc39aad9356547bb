/**
 * The parts of the kill test of several workers: a server whose processes are killed one by one or all at
 * once, and clients that remember their answers: what was stored, and what was deleted.
 */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { askAgain, until, untilTrue } from "../patience.ts";
import type { Place, RunningCommand } from "./command.ts";

export type Chance = () => number;

/**
 * When a client gives up on its request. Nothing depends on it: the result of an unanswered request is
 * unknown.
 */
const GIVE_UP_MS = 700;

/** The share of large inputs, and their size: 2 MB are written in eight parts. */
const LARGE = 0.5;
const WORDS = 400_000;

export interface WorkerServer {
  readonly url: string;
  /** Starts it if it is down. Resolves when it listens. */
  start(): Promise<void>;
  /** `kill -9` of one worker. */
  killWorker(chance: Chance): Promise<void>;
  /** `kill -9` of the first process. Resolves when its workers are gone too. */
  killAll(): Promise<void>;
  /** Milliseconds since it was started. */
  readonly ageMs: number;
  /** Ends it like an administrator. */
  stop(): Promise<void>;
}

export function createWorkerServer(place: Place, args: readonly string[]): WorkerServer {
  let command: RunningCommand | undefined;
  let url = "";
  let startedMs = 0;
  const pids = async (): Promise<number[]> => {
    const pid = command?.child.pid;
    const path = `/proc/${pid}/task/${pid}/children`;
    const text = await readFile(path, "utf8").catch(() => "");
    return text.trim().split(/\s+/).filter(Boolean).map(Number);
  };
  return {
    get url() {
      return url;
    },
    get ageMs() {
      return performance.now() - startedMs;
    },
    async start() {
      if (command) return;
      startedMs = performance.now();
      command = place.start(["serve", "--port", "0", "--no-auth", "--log", "off", ...args]);
      let said = "";
      command.child.stderr?.on("data", (piece: string) => {
        said += piece;
      });
      command.ended.catch(() => {});
      await command.waitForStderr("listening at ");
      const found = (): string | undefined => /listening at (http[^\s,]+)[\s,]/.exec(said)?.[1];
      url = await until(found, "the address of the server");
      await untilListening(url, 3);
    },
    async killWorker(chance) {
      const workers = await pids();
      const doomed = workers[Math.floor(chance() * workers.length)];
      if (doomed !== undefined) tryKill(doomed, "SIGKILL");
    },
    async killAll() {
      const workers = await pids();
      command?.child.kill("SIGKILL");
      await command?.ended.catch(() => {});
      command = undefined;
      for (const pid of workers) await untilTrue(() => !tryKill(pid, 0), `the end of ${pid}`);
    },
    async stop() {
      command?.child.kill("SIGTERM");
      await command?.ended;
      command = undefined;
    },
  };
}

/** Every listening worker reports its memory. */
async function untilListening(url: string, count: number): Promise<void> {
  const headers = { connection: "close" };
  const what = `${count} workers that listen`;
  await untilTrue(async () => {
    const text = await askAgain(async (signal) => {
      return await (await fetch(`${url}/metrics`, { headers, signal })).text();
    }, what);
    return (text.match(/^offshoot_resident_memory_bytes\{/gm)?.length ?? 0) >= count;
  }, what);
}

function tryKill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** The state of objects of one kind, by the server's answers. */
export class Told {
  /** Acknowledged, and not requested to be deleted. */
  readonly kept = new Set<string>();
  /** Requested to be deleted, without an answer. */
  readonly doubtful = new Set<string>();
  readonly deleted = new Set<string>();

  pick(chance: Chance): string | undefined {
    return [...this.kept][Math.floor(chance() * this.kept.size)];
  }

  doubt(id: string): void {
    this.kept.delete(id);
    this.doubtful.add(id);
  }

  remove(id: string): void {
    this.doubtful.delete(id);
    this.deleted.add(id);
  }
}

export interface Client {
  readonly files: Told;
  readonly responses: Told;
  /** Responses whose lifetime the test has ended. */
  readonly expired: Set<string>;
  /** Vector stores that come and go with their contents. */
  readonly stores: Told;
  /** In the permanent store, by the ids of their files. */
  readonly indexed: Told;
  readonly store: string;
  /** Does one random action. Resolves when it was answered, or never will be. */
  act(): Promise<void>;
  /** Repeats every deletion that was not answered. */
  settle(): Promise<void>;
  ask(method: string, path: string, body?: unknown): Promise<Asked | undefined>;
}

interface Asked {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export async function createClient(server: WorkerServer, chance: Chance): Promise<Client> {
  const files = new Told();
  const responses = new Told();
  const stores = new Told();
  const indexed = new Told();
  const words = new Map<string, string>();
  let uploads = 0;
  let isSettling = false;

  async function send(path: string, init: RequestInit): Promise<Asked | undefined> {
    const headers = { connection: "close" };
    const once = async (signal: AbortSignal): Promise<Asked> => {
      const answer = await fetch(`${server.url}${path}`, { headers, signal, ...init });
      return { status: answer.status, body: (await answer.json()) as Asked["body"] };
    };
    // A dying worker breaks off its answers.
    if (isSettling) return await askAgain(once, `an answer to ${path}`);
    return await once(AbortSignal.timeout(GIVE_UP_MS)).catch(() => undefined);
  }
  const ask: Client["ask"] = (method, path, body) =>
    send(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const check = (answer: Asked | undefined): string | undefined => {
    if (!answer) return undefined;
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return String(answer.body["id"]);
  };

  async function upload(): Promise<void> {
    const word = `word${uploads++}x`;
    const form = new FormData();
    form.set("purpose", "assistants");
    const text = `The secret is ${word}. `.repeat(1 + Math.floor(chance() * 3000));
    form.set("file", new Blob([text], { type: "text/plain" }), "a.txt");
    const id = check(await send("/v1/files", { method: "POST", body: form }));
    if (id === undefined) return;
    words.set(id, word);
    files.kept.add(id);
  }
  async function respond(): Promise<void> {
    const more = chance() < LARGE ? ` ${"word ".repeat(WORDS)}` : "";
    const body = { input: `Say hello${more}`, background: true };
    const id = check(await ask("POST", "/v1/responses", body));
    if (id !== undefined) responses.kept.add(id);
  }
  async function index(): Promise<void> {
    const file = files.pick(chance);
    if (file === undefined || indexed.kept.has(file) || indexed.doubtful.has(file)) return;
    // A removed one may come back by this, even without an answer.
    indexed.deleted.delete(file);
    const answer = await ask("POST", `/v1/vector_stores/${store}/files`, { file_id: file });
    // Its file may be deleted at the same moment.
    if (answer?.status === 200 && files.kept.has(file)) indexed.kept.add(file);
  }
  async function makeStore(): Promise<void> {
    const file = files.pick(chance);
    const body = { file_ids: file === undefined ? [] : [file] };
    const answer = await ask("POST", "/v1/vector_stores", body);
    if (answer?.status === 200) stores.kept.add(String(answer.body["id"]));
  }
  async function remove(told: Told, path: (id: string) => string, id: string): Promise<void> {
    told.doubt(id);
    const answer = await ask("DELETE", path(id));
    if (!answer) return;
    assert.ok([200, 404].includes(answer.status), JSON.stringify(answer.body));
    told.remove(id);
  }
  const paths = new Map<Told, (id: string) => string>([
    [files, (id) => `/v1/files/${id}`],
    [responses, (id) => `/v1/responses/${id}`],
    [stores, (id) => `/v1/vector_stores/${id}`],
    [indexed, (id) => `/v1/vector_stores/${store}/files/${id}`],
  ]);
  async function removeOne(told: Told): Promise<void> {
    const id = told.pick(chance);
    const path = paths.get(told);
    if (id === undefined || !path) return;
    // Deleting a file removes its entry in the store.
    if (told === files && indexed.kept.has(id)) indexed.doubt(id);
    await remove(told, path, id);
  }

  const store = check(await ask("POST", "/v1/vector_stores", {})) ?? assert.fail("no store");
  const acts: (() => Promise<void>)[] = [
    ...[upload, upload, upload, respond, respond, respond, index, index, index, makeStore],
    ...[files, responses, responses, stores, indexed].map((told) => () => removeOne(told)),
  ];
  return {
    files,
    responses,
    stores,
    indexed,
    store,
    ask,
    expired: new Set<string>(),
    act: async () => await acts[Math.floor(chance() * acts.length)]?.(),
    async settle() {
      isSettling = true;
      for (const [told, path] of paths) {
        for (const id of [...told.doubtful]) {
          await remove(told, path, id);
          assert.ok(told.deleted.has(id), `${path(id)} was not answered`);
        }
      }
      // The test searches for the words of deleted files.
      for (const file of files.kept) names.set(file, words.get(file) ?? "");
    },
  };
}

/** The words of files that were kept, once the client has settled. */
export const names = new Map<string, string>();
