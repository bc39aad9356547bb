/** Attacks on secrets: planted in variables, arguments and files, then searched by commands. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { programLack, SANDBOX_LACK, unless } from "../needs.ts";
import { PATIENCE_MS } from "../patience.ts";
import { PROBES } from "./environment-rows.ts";

const RUNNER = fileURLToPath(new URL("./environment-runner.js", import.meta.url));

/** In every secret, and nowhere else. */
const PLANTED = "planted-91c7e0";

const VARIABLES = {
  OPENAI_API_KEY: `sk-${PLANTED}-key`,
  INNOCENT: `${PLANTED}-value`,
  DATABASE_URL: `postgres://user:${PLANTED}@db.example.com/`,
};

const FILES = {
  "home/.aws/credentials": `[default]\naws_secret_access_key = ${PLANTED}`,
  "home/.ssh/id_ed25519": PLANTED,
  "home/.netrc": `machine example.com password ${PLANTED}`,
  "home/.gitconfig": `[user]\n\tname = ${PLANTED}\n`,
  "home/.bash_history": `export KEY=${PLANTED}`,
  "neighbour.txt": PLANTED,
  "root/.env": `KEY=${PLANTED}`,
  "root/sub/folder/.env": `KEY=${PLANTED}`,
  "root/sub/.ssh/id": PLANTED,
  "root/denied/notes": PLANTED,
  "root/.offshoot/config.yaml": `key: ${PLANTED}`,
};

type Outputs = Readonly<Record<string, string>>;

describe("a secret", () => {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "offshoot-secrets-")));
  const outputs: Record<string, Outputs> = {};

  before(async () => {
    for (const [path, content] of Object.entries(FILES)) {
      mkdirSync(dirname(join(outer, path)), { recursive: true });
      writeFileSync(join(outer, path), content);
    }
    const run = async (level: string): Promise<void> => {
      outputs[level] = await runProbes(level, outer);
    };
    const levels = SANDBOX_LACK === undefined ? ["process", "sandbox"] : ["process"];
    await Promise.all(["bare", ...levels].map(run));
  });
  after(() => rmSync(outer, { recursive: true, force: true }));

  for (const probe of PROBES) {
    const reads = (level: string): boolean =>
      outputs[level]?.[probe.name]?.includes(PLANTED) ?? true;
    const able = unless(probe.needs && programLack(probe.needs));
    it(...able(`is found where nothing holds it: ${probe.name}`), () => {
      assert.ok(reads("bare"), outputs["bare"]?.[probe.name]);
    });
    const held = unless(SANDBOX_LACK);
    it(...held(`is not found in the sandbox: ${probe.name}`), () => assert.ok(!reads("sandbox")));
    if (probe.heldBy === "sandbox") continue;
    it(`is not found at the level of processes: ${probe.name}`, () => assert.ok(!reads("process")));
  }
});

async function runProbes(level: string, outer: string): Promise<Outputs> {
  const words = [RUNNER, level, join(outer, "root"), `--key=${PLANTED}`];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    cwd: join(outer, "home"),
    env: { PATH: process.env["PATH"], HOME: join(outer, "home"), ...VARIABLES },
    maxBuffer: 100_000_000,
    timeout: PATIENCE_MS,
  });
  return JSON.parse(stdout) as Outputs;
}
