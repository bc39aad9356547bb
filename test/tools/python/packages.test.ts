import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { openPackages } from "../../../src/tools/python/packages.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

const BYTES = "a wheel";
const ENTRY = {
  name: "scikit-learn",
  file_name: "scikit_learn-1.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
  sha256: createHash("sha256").update(BYTES).digest("hex"),
  imports: ["sklearn"],
};
const LOCK = JSON.stringify({ packages: { "scikit-learn": ENTRY } });
const { signal } = new AbortController();
const DATA = Buffer.from(BYTES).toString("base64");

describe("Pyodide's packages", () => {
  it("come from a folder, by the distribution's name or the module's", async () => {
    using folder = createWorkspaceFolder({
      "own/pyodide-lock.json": LOCK,
      [`wheels/${ENTRY.file_name}`]: BYTES,
      "wheels/Typing_Extensions-4.0-py3-none-any.whl": BYTES,
      "wheels/numpy-2.0-cp314-cp314-manylinux_2_28_x86_64.whl": BYTES,
    });
    const parts = {
      wheels: `${folder.root}/wheels`,
      index: undefined,
      pyodide: `${folder.root}/own`,
    };
    const packages = await openPackages(parts, signal);
    assert.deepEqual(await packages.find("sklearn", signal), { name: "scikit-learn", data: DATA });
    assert.equal((await packages.find("typing_extensions", signal))?.data, DATA);
    assert.equal(await packages.find("numpy", signal), undefined);
    assert.equal(await packages.find("nobodys", signal), undefined);
  });

  it("come from an index's folder, if the file is there", async () => {
    using folder = createWorkspaceFolder({
      "pyodide-lock.json": LOCK,
      [ENTRY.file_name]: BYTES,
    });
    const parts = { wheels: undefined, index: folder.root, pyodide: folder.root };
    const packages = await openPackages(parts, signal);
    assert.deepEqual(await packages.find("sklearn", signal), { name: "scikit-learn", data: DATA });
    assert.equal(await packages.find("nobodys", signal), undefined);
  });

  it("come from an index's URL, read by the process with network access", async () => {
    const asked: string[] = [];
    const fetchPackage = async (url: string): Promise<Uint8Array> => {
      asked.push(url);
      return Buffer.from(url.endsWith(".json") ? LOCK : BYTES);
    };
    const index = "https://example.test/pyodide/full";
    const parts = { wheels: undefined, index, fetchPackage, pyodide: "" };
    const packages = await openPackages(parts, signal);
    assert.equal((await packages.find("sklearn", signal))?.data, DATA);
    assert.deepEqual(asked, [`${index}/pyodide-lock.json`, `${index}/${ENTRY.file_name}`]);
  });

  it("are refused if the hash differs, and are never read from outside the index", async () => {
    using folder = createWorkspaceFolder({ "index/evil.whl": "other", "evil.whl": BYTES });
    const entry = { ...ENTRY, file_name: "../evil.whl" };
    folder.write("index/pyodide-lock.json", JSON.stringify({ packages: { x: entry } }));
    const index = `${folder.root}/index`;
    const packages = await openPackages({ wheels: undefined, index, pyodide: index }, signal);
    await assert.rejects(packages.find("sklearn", signal), /is not the file that the lock file/);
  });

  it("invalid settings of Python packages are reported", async () => {
    using folder = createWorkspaceFolder({ "bad/pyodide-lock.json": "[]" });
    const pyodide = folder.root;
    const none = { wheels: undefined, pyodide };
    await assert.rejects(
      openPackages({ ...none, index: `${folder.root}/none` }, signal),
      /There is no `pyodide-lock/,
    );
    await assert.rejects(
      openPackages({ ...none, index: `${folder.root}/bad` }, signal),
      /has no `packages`/,
    );
    await assert.rejects(
      openPackages({ ...none, index: "https://user:hunter2@example.test" }, signal),
      { message: "`python_index` must be a folder here, not a URL." },
    );
    folder.write("pyodide-lock.json", LOCK);
    const wheels = `${folder.root}/none`;
    const parts = { wheels, index: undefined, pyodide };
    await assert.rejects(openPackages(parts, signal), /cannot be read/);
  });

  it("are at most as large as real packages, and are read with the call's signal", async () => {
    const given: unknown[] = [];
    const fetchPackage = async (url: string, limit: AbortSignal): Promise<Uint8Array> => {
      given.push(limit);
      return url.endsWith(".json") ? Buffer.from(LOCK) : Buffer.alloc(200_000_001);
    };
    const parts = { wheels: undefined, index: "http://example.test", fetchPackage, pyodide: "" };
    const packages = await openPackages(parts, signal);
    const other = new AbortController().signal;
    await assert.rejects(packages.find("sklearn", other), /is larger than any package/);
    assert.deepEqual(given, [signal, other]);
  });
});
