/**
 * Other programs that read the record of a running server do no harm: the `sqlite3` program, Python and
 * backups in a loop, while the server answers and is killed. Acknowledged data is there, deleted data is
 * gone, and the file is never malformed.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openConnection } from "../../src/store/sqlite/sqlite-driver.ts";
import { createChance } from "../delegation/random-tree.ts";
import { unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { createPlace, type Place } from "./command.ts";
import { countKills } from "./kills.ts";
import { type Served, serve } from "./served.ts";

const KILLS = countKills(12);
const AT_ONCE = 6;
/** The most answers of one life of the server before it is killed. */
const MOST_ANSWERS = 25;

interface Program {
  readonly name: string;
  readonly isHere: boolean;
  /** Reads the file repeatedly until it is killed. Anything that it prints is an error. */
  start(path: string): ChildProcess;
  /** Reads once, like a user. Returns how many runs it saw. */
  look(path: string): string;
}

/** Reads like a user's script, makes backups, and checks each of them. */
const PYTHON = `
import os, sqlite3, sys
path, copy = sys.argv[1], sys.argv[1] + ".python-copy"
while True:
    try:
        connection = sqlite3.connect(path, timeout=1)
        for table in ("runs", "things", "run_events"):
            connection.execute("select count(*) from " + table).fetchone()
        if os.path.exists(copy):
            os.remove(copy)
        target = sqlite3.connect(copy)
        connection.backup(target, pages=50, sleep=0.001)
        connection.close()
        found = target.execute("pragma integrity_check").fetchone()[0]
        target.close()
        if found != "ok":
            print("the backup: " + found, flush=True)
    except sqlite3.Error as error:
        if "locked" not in str(error):
            print(error, flush=True)
`;

const SHELL = `
while :; do
  for sql in "select count(*) from runs" "select max(position) from things" ".backup '$1.shell-copy'"; do
    said=$(sqlite3 "$1" "$sql" 2>&1 >/dev/null) || case "$said" in
      *locked*|*busy*) ;;
      *) echo "$sql: $said" ;;
    esac
  done
done
`;

const COUNT = "select count(*) from runs";
const LOOK = `
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("${COUNT}").fetchone()[0])
connection.close()
`;

const PROGRAMS: readonly Program[] = [
  {
    name: "Python",
    isHere: spawnSync("python3", ["-c", "import sqlite3"]).status === 0,
    start: (path) => spawn("python3", ["-c", PYTHON, path]),
    look: (path) => spawnSync("python3", ["-c", LOOK, path], { encoding: "utf8" }).stdout,
  },
  {
    name: "the sqlite3 program",
    isHere: spawnSync("/bin/sh", ["-c", "sqlite3 -version"]).status === 0,
    start: (path) => spawn("/bin/sh", ["-c", SHELL, "sh", path]),
    look: (path) => spawnSync("sqlite3", [path, COUNT], { encoding: "utf8" }).stdout,
  },
];

describe("a record that other programs look into", () => {
  for (const program of PROGRAMS) {
    const here = unless(program.isHere ? undefined : `${program.name} is not on this machine`);
    const name = `loses nothing while ${program.name} reads it and the server is killed ${KILLS} times`;
    it(...here(name), async () => {
      await using place = await createPlace();
      const path = join(place.home, "store.db");
      const book = createBook(createChance(6013));
      // There must be some data to read.
      await live(place, path, { book, answers: 2 });
      const reader = watch(program.start(path));
      try {
        for (let kills = 0; kills < KILLS; kills++) {
          const answers = 1 + Math.floor(book.chance() * MOST_ANSWERS);
          await live(place, path, { book, answers });
        }
      } finally {
        await reader.stop();
      }
      assert.deepEqual(reader.said(), "", `${program.name} reported a fault`);
      await check(place, path, book);
    });
  }

  for (const program of PROGRAMS) {
    const here = unless(program.isHere ? undefined : `${program.name} is not on this machine`);
    const name = `is one record for the server and for other commands, also after ${program.name} has looked`;
    it(...here(name), async () => {
      await using place = await createPlace();
      const path = join(place.home, "store.db");
      const env = { OFFSHOOT_STORE_PATH: path };
      const first = await serve({ place, env, key: "the-key-of-the-test" });
      const before = await first.create({ input: "Before" });
      const { pid = 0 } = first.command.child;
      assert.equal(program.look(path).trim(), "1", "it reads the record");
      if (existsSync("/proc/self/fd")) assert.deepEqual(deletedFilesOf(pid), []);
      const made = await place.run(["keys", "create", "mine"], { env });
      const token = made.stdout.trim();
      assert.equal(await askAs(first, token), 200, "a key that was made beside it counts");
      const revoked = await place.run(["keys", "revoke", "mine"], { env });
      assert.equal(revoked.code, 0, revoked.stderr);
      await untilTrue(
        async () => (await askAs(first, token)) === 401,
        "the revoked key is refused",
      );
      const ran = await place.run(["run", "-q", "-m", "embedded", "Hello"], { env });
      assert.equal(ran.code, 0, ran.stderr);
      const after = await first.create({ input: "After" });
      const listed = await place.run(["runs", "list", "--json"], { env });
      const ids = (JSON.parse(listed.stdout) as { id: string }[]).map(({ id }) => id);
      assert.ok(ids.includes(after.id.replace("resp_", "run_")), listed.stdout);
      await first[Symbol.asyncDispose]();
      await using second = await serve({ place, env, key: "the-key-of-the-test" });
      for (const { id } of [before, after]) {
        assert.equal((await second.ask("GET", `/v1/responses/${id}`)).status, 200, id);
      }
      assert.equal(await askAs(second, token), 401);
      const checked = await place.run(["store", "check"], { env });
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
    });
  }

  const listed = unless(existsSync("/proc/locks") ? undefined : "there is no /proc/locks");
  it(...listed("keeps its locks in the server's process"), async () => {
    await using place = await createPlace();
    const path = join(place.home, "store.db");
    await using server = await start(place, path);
    await server.create({ input: "Hello" });
    const { ino } = statSync(path);
    const locks = readFileSync("/proc/locks", "utf8").split("\n");
    const own = locks.filter((line) => line.includes(` ${server.command.child.pid} `));
    assert.ok(
      own.some((line) => line.includes(`:${ino} `)),
      locks.join("\n"),
    );
  });
});

/** How many writers wait for the record while it is locked, and how often others read meanwhile. */
const WAITING = 5;
const LOOKS = 5;

describe("a record that another program has locked", () => {
  it("blocks only writers, and those only until it is free", async () => {
    await using place = await createPlace();
    const path = join(place.home, "store.db");
    await using server = await start(place, path);
    const kept = await server.create({ input: "Hello" });
    const foreign = await openConnection(path);
    foreign.exec("begin immediate");
    const order: string[] = [];
    const store = async (): Promise<void> => {
      const { status } = await server.create({ input: "Hello" });
      order.push(`a response is ${status}`);
    };
    const checkHealth = async (): Promise<void> => {
      const { status } = await server.ask("GET", "/healthz");
      order.push(`health is ${status}`);
    };
    const storing = Promise.all(Array.from({ length: WAITING }, store));
    // All at once, beside the writers, and one by one once they wait.
    await Promise.all(Array.from({ length: LOOKS }, checkHealth));
    for (let look = 0; look < LOOKS; look++) {
      await checkHealth();
      const passing = await server.ask("POST", "/v1/responses", { input: "Hi", store: false });
      assert.equal(passing.status, 200, JSON.stringify(passing.body));
      const messages = [{ role: "user", content: "Hi" }];
      const chat = await server.ask("POST", "/v1/chat/completions", { messages });
      assert.equal(chat.status, 200, JSON.stringify(chat.body));
      assert.equal((await server.ask("GET", `/v1/responses/${kept.id}`)).status, 200);
    }
    assert.equal((await server.ask("GET", "/readyz")).status, 503);
    order.push("the record is free");
    foreign.exec("rollback");
    foreign.close();
    await storing;
    assert.deepEqual(order, [
      ...Array.from({ length: 2 * LOOKS }, () => "health is 200"),
      "the record is free",
      ...Array.from({ length: WAITING }, () => "a response is completed"),
    ]);
  });
});

/** Files that were removed while a process has them open. */
function deletedFilesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .map((name) => readlinkSync(join(folder, name)))
    .filter((target) => target.includes("store.db") && target.endsWith("(deleted)"));
}

async function askAs({ url }: Served, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/v1/models`, { headers })).status;
}

interface Book {
  readonly chance: () => number;
  /** Responses that a client knows about, and that it has not asked to delete. */
  readonly kept: Set<string>;
  /** Those whose deletion was confirmed to a client. */
  readonly deleted: Set<string>;
  /** Those whose deletion was requested, with an unknown result. */
  readonly doomed: Set<string>;
}

function createBook(chance: () => number): Book {
  return { chance, kept: new Set(), deleted: new Set(), doomed: new Set() };
}

function start(place: Place, path: string): Promise<Served> {
  return serve({ place, env: { OFFSHOOT_STORE_PATH: path } });
}

/** One life of the server: after that many answers it is killed, with others in flight. */
async function live(
  place: Place,
  path: string,
  { book, answers }: { readonly book: Book; readonly answers: number },
): Promise<void> {
  const server = await start(place, path);
  let left = answers;
  const client = async (): Promise<void> => {
    while (left > 0) {
      try {
        await askOnce(server, book);
      } catch (thrown) {
        // Interrupted by the kill. Anything else is a fault of the server.
        if (!(thrown instanceof TypeError)) throw thrown;
        return;
      }
      left--;
      if (left <= 0) server.command.child.kill("SIGKILL");
    }
  };
  const clients = await Promise.allSettled(Array.from({ length: AT_ONCE }, client));
  await server[Symbol.asyncDispose]();
  for (const result of clients) if (result.status === "rejected") throw result.reason;
}

/** Mostly creates; sometimes deletes an existing one. */
async function askOnce(server: Served, { chance, kept, deleted, doomed }: Book): Promise<void> {
  const [oldest] = kept;
  if (oldest === undefined || chance() < 0.7) {
    const { status, body } = await server.ask("POST", "/v1/responses", { input: "Hello" });
    assert.equal(status, 200, JSON.stringify(body));
    kept.add((body as { id: string }).id);
    return;
  }
  kept.delete(oldest);
  doomed.add(oldest);
  const { status, body } = await server.ask("DELETE", `/v1/responses/${oldest}`);
  assert.equal(status, 200, JSON.stringify(body));
  doomed.delete(oldest);
  deleted.add(oldest);
}

async function check(place: Place, path: string, { kept, deleted }: Book): Promise<void> {
  {
    await using server = await start(place, path);
    for (const id of kept) {
      assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 200, `${id} is lost`);
    }
    for (const id of deleted) {
      assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 404, `${id} is back`);
    }
    assert.ok(kept.size > KILLS && deleted.size > 0, `${kept.size} kept, ${deleted.size} deleted`);
  }
  const env = { OFFSHOOT_STORE_PATH: path };
  const checked = await place.run(["store", "check"], { env });
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  assert.match(checked.stdout, /^ok: /);
}

function watch(child: ChildProcess): { said(): string; stop(): Promise<void> } {
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (piece: string) => {
      said += piece;
    });
  }
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    said: () => said,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
