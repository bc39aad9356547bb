import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { keyIn, storedProblem } from "../../../src/base/stored-keys.ts";
import {
  type KeyStore,
  type NewVendorKey,
  openKeyStore,
} from "../../../src/runtime/auth/key-store.ts";
import type { Keyring } from "../../../src/runtime/auth/keyring.ts";

const NOW = new Date("2026-01-02T03:04:05Z");
const OPENAI: NewVendorKey = {
  variable: "OPENAI_API_KEY",
  vendor: "openai",
  key: "sk-one",
  wish: "file",
  now: NOW,
};
const GROQ: NewVendorKey = { ...OPENAI, variable: "GROQ_API_KEY", vendor: "groq", key: "gsk-two" };
const uid = process.getuid?.();

interface Bench {
  readonly folder: string;
  readonly file: string;
  readonly store: KeyStore;
}

async function open(t: TestContext, keyring?: Keyring): Promise<Bench> {
  const root = await mkdtemp(join(tmpdir(), "offshoot-keys-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, "data", "auth");
  const store = openKeyStore({ folder, env: {}, uid, keyring: () => keyring });
  return { folder, store, file: join(folder, "OPENAI_API_KEY.json") };
}

async function attach(store: KeyStore): Promise<Record<string, string>> {
  const env = {};
  await store.attach(env);
  return env;
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** A keyring in memory. */
function ring(parts: Partial<Keyring> = {}): Keyring & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    name: "the keyring",
    answers: async () => true,
    read: async (variable) => kept.get(variable),
    write: async (variable, key) => void kept.set(variable, key),
    remove: async (variable) => void kept.delete(variable),
    ...parts,
  };
}

describe("stored keys in files", () => {
  it("are readable for their user alone, and are found by their variables", async (t) => {
    const { folder, file, store } = await open(t);
    assert.equal(await store.set(OPENAI), `${file} (mode 600)`);
    await store.set(GROQ);
    assert.deepEqual([await modeOf(folder), await modeOf(file)], ["700", "600"]);
    const env = await attach(store);
    assert.deepEqual(
      [keyIn(env, "OPENAI_API_KEY"), keyIn(env, "GROQ_API_KEY"), keyIn(env, "XAI_API_KEY")],
      ["sk-one", "gsk-two", undefined],
    );
  });

  it("are replaced and removed", async (t) => {
    const { store } = await open(t);
    await store.set(OPENAI);
    await store.set({ ...OPENAI, key: "sk-later" });
    assert.equal(keyIn(await attach(store), "OPENAI_API_KEY"), "sk-later");
    assert.equal(await store.remove("OPENAI_API_KEY"), true);
    assert.equal(await store.remove("OPENAI_API_KEY"), false);
    assert.equal(keyIn(await attach(store), "OPENAI_API_KEY"), undefined);
  });

  it("that many processes write at once all exist, and each is whole", async (t) => {
    const { folder, store } = await open(t);
    const names = Array.from({ length: 12 }, (_, at) => `KEY_${at}`);
    const same = Array.from({ length: 12 }, (_, at) => ({
      ...OPENAI,
      key: `sk-${at}`.padEnd(2000, "x"),
    }));
    await Promise.all([
      ...names.map((variable) => store.set({ ...OPENAI, variable, key: variable })),
      ...same.map((key) => store.set(key)),
    ]);
    const env = await attach(store);
    for (const name of names) assert.equal(keyIn(env, name), name);
    assert.equal(keyIn(env, "OPENAI_API_KEY")?.length, 2000);
    const left = (await readdir(folder)).filter((name) => name.endsWith(".tmp"));
    assert.deepEqual(left, []);
  });

  const faults: readonly [what: string, spoil: (bench: Bench) => Promise<unknown>, said: RegExp][] =
    [
      [
        "a file that others may read",
        ({ file }) => chmod(file, 0o644),
        /mode 644\)\. Run `chmod 600 .*OPENAI_API_KEY\.json`\.$/,
      ],
      [
        "a folder that others may list",
        ({ folder }) => chmod(folder, 0o755),
        /mode 755\)\. Run `chmod 700 .*auth`\.$/,
      ],
      [
        "a damaged file",
        ({ file }) => writeFile(file, "{"),
        /is damaged\. Remove it, then store the key again\.$/,
      ],
      [
        "a file of another variable",
        async ({ file, folder }) => {
          const text = await readFile(file, "utf8");
          await writeFile(join(folder, "OTHER_KEY.json"), text, { mode: 0o600 });
        },
        /OTHER_KEY\.json is damaged/,
      ],
      [
        "a link",
        async ({ file, folder }) => {
          await rm(file);
          await writeFile(join(folder, "..", "elsewhere"), "{}", { mode: 0o600 });
          await symlink(join(folder, "..", "elsewhere"), file);
        },
        /is a link\. Remove it/,
      ],
    ];
  for (const [what, spoil, said] of faults) {
    it(`are refused with ${what}: one line says what to do`, async (t) => {
      const bench = await open(t);
      await bench.store.set(OPENAI);
      await spoil(bench);
      const env = await attach(bench.store);
      assert.match(storedProblem(env) ?? "", said);
      assert.equal((storedProblem(env) ?? "").split("\n").length, 1);
      const { problems } = await bench.store.list();
      assert.equal(problems.length, 1);
    });
  }

  it("are refused if they belong to another user", async (t) => {
    const { folder, store } = await open(t);
    await store.set(OPENAI);
    const other = openKeyStore({ folder, env: {}, uid: (uid ?? 0) + 1 });
    assert.match((await other.list()).problems[0] ?? "", /belongs to another user\. Run `chown /);
  });

  it("that others could read are made private by the next `set`", async (t) => {
    const { file, store } = await open(t);
    await store.set(OPENAI);
    await chmod(file, 0o666);
    await store.set({ ...OPENAI, key: "sk-new" });
    assert.equal(await modeOf(file), "600");
    assert.equal(keyIn(await attach(store), "OPENAI_API_KEY"), "sk-new");
  });

  it("are never outside their folder", async (t) => {
    const { store } = await open(t);
    await assert.rejects(store.set({ ...OPENAI, variable: "../../x" }), {
      code: "invalid_request",
    });
    await assert.rejects(store.remove("../x"), { code: "invalid_request" });
  });
});

describe("stored keys in the keyring", () => {
  it("are not in the file", async (t) => {
    const keyring = ring();
    const { file, store } = await open(t, keyring);
    assert.equal(await store.set({ ...OPENAI, wish: "auto" }), "the keyring");
    assert.deepEqual([...keyring.kept], [["OPENAI_API_KEY", "sk-one"]]);
    assert.ok(!(await readFile(file, "utf8")).includes("sk-one"));
    assert.equal(keyIn(await attach(store), "OPENAI_API_KEY"), "sk-one");
    assert.equal(await store.remove("OPENAI_API_KEY"), true);
    assert.equal(keyring.kept.size, 0);
  });

  it("are in a file if no keyring answers, unless the keyring was asked for", async (t) => {
    const { store } = await open(t, ring({ answers: async () => false }));
    assert.match(await store.set({ ...OPENAI, wish: "auto" }), /mode 600/);
    await assert.rejects(store.set({ ...OPENAI, wish: "keyring" }), {
      message: /No keyring answers .* `offshoot config set key_store file`/,
    });
  });

  it("that it does not return are reported when they are needed", async (t) => {
    const keyring = ring();
    const { store } = await open(t, keyring);
    await store.set({ ...OPENAI, wish: "keyring" });
    await store.set(GROQ);
    keyring.kept.clear();
    const gone = await attach(store);
    assert.match(storedProblem(gone) ?? "", /has no key `OPENAI_API_KEY` any more/);
    assert.equal(keyIn(gone, "GROQ_API_KEY"), "gsk-two");
    const locked = ring({
      read: async () => {
        throw new Failure("key_missing", "The system's keyring does not answer.");
      },
    });
    const bench = await open(t, locked);
    await bench.store.set({ ...OPENAI, wish: "keyring" });
    assert.match(storedProblem(await attach(bench.store)) ?? "", /does not answer/);
  });
});
