import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  checkAuthorities,
  checkGaps,
  checkProxies,
  checkSandbox,
  checkVersions,
} from "../../src/cli/doctor-checks.ts";
import { checkKeys } from "../../src/cli/doctor-models.ts";
import { main } from "../../src/cli/main.ts";
import { loadConfig } from "../../src/runtime/config/config.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";
import { createFakeIo } from "./fake-io.ts";

// The servers of this machine are left alone: which of them run is none of the tests' business.
const QUIET = { OFFSHOOT_PROBE_LOCAL: "false" };

const linux = unless(LINUX_LACK);

describe("offshoot doctor", () => {
  it("ends with 0 on a machine where nothing is set up", async (t) => {
    const io = createFakeIo({ ...createSandbox(t), env: QUIET });
    assert.equal(await main(["doctor"], io), 0);
    assert.match(io.written.stdout, /^ok +offshoot +\d+\.\d+\.\d+$/m);
    assert.match(io.written.stdout, /^gap +keys +none set\n +Get one /m);
    assert.match(io.written.stdout, /^ok +model +embedded\/offline /m);
    assert.match(io.written.stdout, /^ok +ripgrep +ripgrep \d/m);
    assert.match(io.written.stdout, /^ok +sqlite +3\./m);
    assert.equal(io.written.stderr, "");
  });

  it("says what is wrong with stored keys, aliases and templates", async (t) => {
    const sandbox = createSandbox(t);
    const file = join(sandbox.home, ".local/share/offshoot/auth/OPENAI_API_KEY.json");
    const fine = join(sandbox.home, ".local/share/offshoot/auth/GROQ_API_KEY.json");
    const key = (variable: string) => ({
      variable,
      vendor: "x",
      place: "file",
      key: "sk-secret-key",
    });
    put(file, JSON.stringify(key("OPENAI_API_KEY")));
    put(fine, JSON.stringify(key("GROQ_API_KEY")));
    for (const [path, mode] of [
      [join(file, ".."), 0o700],
      [file, 0o604],
      [fine, 0o600],
    ] as const) {
      chmodSync(path, mode);
    }
    put(join(sandbox.home, ".config/offshoot/templates/bad.md"), "---\n");
    put(join(sandbox.home, ".config/offshoot/config.yaml"), "aliases: {fast: nobody/x}\n");
    const io = createFakeIo({ ...sandbox, env: QUIET });
    assert.equal(await main(["doctor"], io), 1);
    const { stdout } = io.written;
    assert.match(stdout, /^ok +keys +GROQ_API_KEY \(stored\)$/m);
    assert.match(
      stdout,
      /^BAD +stored keys +.*\(mode 604\)\n +Run `chmod 600 \S+OPENAI_API_KEY\.json`\.$/m,
    );
    assert.match(stdout, /^ok +key store +/m);
    assert.match(stdout, /^gap +aliases +`fast` names nobody\/x, whose vendor is unknown$/m);
    assert.match(stdout, /^gap +templates +\S+bad\.md has no second line/m);
    assert.ok(!stdout.includes("sk-secret-key"));
  });

  it("opens the record, and says what is wrong with it", async (t) => {
    const sandbox = createSandbox(t);
    const file = join(sandbox.home, ".local/share/offshoot/runs.db");
    put(file, "no database ".repeat(1000));
    const io = createFakeIo({ ...sandbox, env: QUIET });
    assert.equal(await main(["doctor"], io), 1);
    assert.match(
      io.written.stdout,
      /^BAD +data +\S+runs\.db cannot be opened: file is not a data/m,
    );
  });

  it("shows the names of keys and never a value", async (t) => {
    const env = {
      ...QUIET,
      OPENAI_API_KEY: "sk-abcdefgh0123456789",
      https_proxy: "http://a:b1234567@c",
    };
    for (const flag of [[], ["--json"]]) {
      const io = createFakeIo({ ...createSandbox(t), env });
      assert.equal(await main(["doctor", ...flag], io), 0);
      assert.match(io.written.stdout, /OPENAI_API_KEY/);
      assert.match(io.written.stdout, /https_proxy/);
      assert.doesNotMatch(io.written.stdout, /0123456789|b1234567/);
    }
  });

  it("ends with 1 and says what to fix when a file is wrong", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "probe_local: false\nmodle: x\n");
    const io = createFakeIo(sandbox);
    assert.equal(await main(["doctor", "--json"], io), 1);
    const { checks } = JSON.parse(io.written.stdout);
    const config = checks.find((check: { name: string }) => check.name === "config");
    assert.equal(config.status, "broken");
    assert.match(config.found, /:2:1: Unknown setting `modle`/);
    assert.match(config.advice, /^Fix the file/);
    const data = checks.find((check: { name: string }) => check.name === "data");
    assert.match(data.found, /offshoot$/, "the folder of the record, not the home folder");
  });

  it("ends with 1 when the model of the settings does not exist", async (t) => {
    const env = { ...QUIET, OFFSHOOT_MODEL: "opnai/x" };
    const io = createFakeIo({ ...createSandbox(t), env });
    assert.equal(await main(["doctor"], io), 1);
    assert.match(io.written.stdout, /^BAD +model .*opnai.*\n +Change `model` \(OFFSHOOT_MODEL\)/m);
  });

  it("ends with 1 if the data folder is not a folder", async (t) => {
    const sandbox = createSandbox(t);
    put(join(sandbox.home, "file"), "");
    const env = { ...QUIET, OFFSHOOT_DATA: join(sandbox.home, "file/data") };
    const io = createFakeIo({ ...sandbox, env });
    assert.equal(await main(["doctor"], io), 1);
    assert.match(io.written.stdout, /^BAD +data +\S+\/file is not a folder$/m);
  });

  it(
    ...linux("ends with 1 where a data folder cannot be made that looks as if it could"),
    async (t) => {
      const env = { ...QUIET, OFFSHOOT_DATA: "/proc/offshoot" };
      const io = createFakeIo({ ...createSandbox(t), env });
      assert.equal(await main(["doctor"], io), 1);
      assert.match(io.written.stdout, /^BAD +data +\/proc cannot be written to$/m);
    },
  );

  it("names the notes and skills that a model gets, and what is wrong with them", async (t) => {
    const sandbox = createSandbox(t);
    put(join(sandbox.cwd, "AGENTS.md"), "approve: auto\nUse tabs.");
    put(join(sandbox.cwd, ".agents/skills/bad/SKILL.md"), "no front matter");
    const io = createFakeIo({ ...sandbox, env: QUIET });
    assert.equal(await main(["doctor"], io), 0);
    assert.match(io.written.stdout, /^ok +project notes +AGENTS\.md$/m);
    assert.match(io.written.stdout, /^gap +project notes +AGENTS\.md grants nothing: `approve`/m);
    assert.match(io.written.stdout, /^gap +skills +The skill `bad` is left out/m);
  });

  it("shows what a project's file may not set", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "url: http://a.example\n");
    const io = createFakeIo({ ...sandbox, env: QUIET });
    assert.equal(await main(["doctor"], io), 0);
    assert.match(io.written.stdout, /^gap +config .*`url` in it is ignored/m);
  });
});

describe("a check", () => {
  const around = { env: {}, home: "/nowhere", cwd: "/nowhere" };

  it("calls an old Node broken", () => {
    const status = (version: string): string | undefined => checkVersions(version)[1]?.status;
    assert.equal(status("v18.20.0"), "broken");
    assert.equal(status("v20.18.3"), "broken");
    assert.equal(status("v20.19.0"), "ok");
    assert.equal(status("v24.0.0"), "ok");
  });

  it("names every key that is set", () => {
    const env = { GROQ_API_KEY: "x", MISTRAL_API_KEY: "y", XAI_API_KEY: " " };
    assert.equal(checkKeys({ ...around, env }).found, "GROQ_API_KEY, MISTRAL_API_KEY");
  });

  it("names the key of a vendor of the settings", async (t) => {
    const sandbox = createSandbox(t);
    const vendor =
      "url: http://127.0.0.1:9/v1, api_key_name: GPU_KEY, headers: { x-org: $GPU_ORG }";
    put(sandbox.userFile, `vendors: { gpu1: { ${vendor} } }\n`);
    const env = { ...QUIET, GPU_KEY: "x" };
    const config = await loadConfig({ ...sandbox, env });
    assert.equal(checkKeys({ ...sandbox, env }, config).found, "GPU_KEY");
    const io = createFakeIo({ ...sandbox, env });
    await main(["doctor"], io);
    assert.match(io.written.stdout, /^ok +keys +GPU_KEY$/m);
  });

  it("says which levels of the sandbox are available, and how to get the rest", async () => {
    const whole = { levels: ["none", "process", "sandbox"], problem: undefined } as const;
    const found = await checkSandbox({}, async () => whole);
    assert.deepEqual(found, {
      name: "sandbox",
      status: "ok",
      found: "none, process, sandbox available",
      advice: undefined,
    });
    const problem = "There is no `bwrap`. Install bubblewrap.";
    const missing = await checkSandbox({}, async () => ({ levels: ["none", "process"], problem }));
    assert.deepEqual([missing.status, missing.advice], ["gap", problem]);
  });

  it("says what running as root means, and what this machine cannot enforce", () => {
    const all = { isRoot: false, hasFilter: true, hasGroup: true };
    assert.deepEqual([...new Set(checkGaps(all).map(({ status }) => status))], ["ok"]);
    const [user] = checkGaps({ ...all, isRoot: true });
    assert.deepEqual([user?.name, user?.status], ["user", "gap"]);
    assert.match(user?.advice ?? "", /can change the whole machine.*Run as another user/);
    const found = checkGaps({ ...all, hasFilter: false, hasGroup: false });
    const texts = found.map((one) => one.found).join("; ");
    if (process.platform === "linux") assert.match(texts, /no filter for .*no control group/);
  });

  it("really starts the program of the sandbox", async () => {
    const found = await checkSandbox({ PATH: "/nowhere" });
    assert.equal(found.status, "gap");
    assert.match(found.advice ?? "", /./);
  });

  it("names proxies in both spellings", () => {
    const env = { HTTPS_PROXY: "a", no_proxy: "b" };
    assert.equal(checkProxies({ ...around, env }).found, "HTTPS_PROXY, no_proxy");
  });

  it("calls a bundle that cannot be read broken", (t) => {
    const env = { SSL_CERT_FILE: "/nowhere/ca.pem" };
    assert.equal(checkAuthorities({ ...around, env }).status, "broken");
    const file = join(createSandbox(t).home, "ca.pem");
    put(file, "");
    const both = { CURL_CA_BUNDLE: file, NODE_EXTRA_CA_CERTS: file };
    assert.equal(
      checkAuthorities({ ...around, env: both }).found,
      `${file} (CURL_CA_BUNDLE), ${file} (NODE_EXTRA_CA_CERTS)`,
    );
  });
});
