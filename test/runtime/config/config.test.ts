import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { loadConfig } from "../../../src/runtime/config/config.ts";
import {
  CONFIG_KEYS,
  CONFIG_NAMES,
  rowOf,
  variableOf,
} from "../../../src/runtime/config/config-keys.ts";
import { checkConfigValue } from "../../../src/runtime/config/config-value.ts";
import { userPaths } from "../../../src/runtime/paths.ts";
import { createSandbox, put } from "../sandbox.ts";

describe("table of settings", () => {
  it("guards what decides where data and money go, and what is allowed", () => {
    const guarded = Object.entries(CONFIG_KEYS).flatMap(([name, row]) =>
      "guarded" in row ? [name] : [],
    );
    const served = CONFIG_NAMES.filter((name) => name.startsWith("server."));
    assert.ok(served.length > 20 && served.every((name) => guarded.includes(name)));
    const others = guarded.filter((name) => !name.startsWith("server."));
    assert.deepEqual(others, [
      "model",
      "provider",
      "url",
      "api_key_name",
      "key_store",
      "system",
      ...["system_file", "bare", "project_notes", "skills"],
      "approve",
      "approval_wait",
      "allow",
      "sandbox",
      "sandbox_network",
      "command_env",
      "git_hooks",
      "hooks",
      "undo",
      "hard_links",
      "agent.subagent.telemetry_enabled",
      "agent.subagent.persistence_enabled",
      "agent.subagent.summary",
      "agent.subagent.executor",
      "own_tools",
      "mcp_servers",
      "python",
      "python_wheels",
      "python_index",
      "python_mounts",
      "search_provider",
      "search_url",
      "web_private_hosts",
      "web_robots",
      "web_proxy",
      "think",
      "effort",
      "compact",
      "output",
      "output_mode",
      "output_schema",
      "done_marker",
      "brief",
      "quiet",
      "store",
      "engine",
      "store_path",
      "continuation",
      "ollama_keep_alive",
      "ollama_num_ctx",
      "models",
      "aliases",
      "vendors",
      "options",
      "probe_local",
    ]);
  });

  it("lets any project's file set only what moves neither data nor money", () => {
    const free = CONFIG_NAMES.filter((name) => !rowOf(name).guarded && !rowOf(name).narrows);
    assert.deepEqual(free, ["ask", "deny", "temperature"]);
    const limits = CONFIG_NAMES.filter((name) => /(^|[._])max_|timeout|limit/.test(name));
    for (const name of limits) assert.ok(rowOf(name).narrows || rowOf(name).guarded, name);
  });

  it("has defaults that its own rows allow", () => {
    for (const name of CONFIG_NAMES) {
      const { default: value } = rowOf(name);
      if (value !== undefined) assert.deepEqual(checkConfigValue(name, value, name), value);
    }
  });

  it("names flags that `run` or `serve` has, of the same kind", () => {
    for (const name of CONFIG_NAMES) {
      const row = rowOf(name);
      if (row.flag === undefined) continue;
      const command = name.startsWith("server.") ? "serve" : "run";
      const options = COMMANDS[command]?.options ?? {};
      const option = options[row.flag];
      assert.ok(option, `${command} has no --${row.flag}`);
      const isSwitch = row.type === "boolean" || row.type === "record";
      assert.equal(option.type === "boolean", isSwitch, row.flag);
      if (row.type === "enum") assert.deepEqual(option.choices, row.values);
    }
  });
});

describe("layers of settings", () => {
  it("override each other in order, and every value knows its place", async (t) => {
    const sandbox = createSandbox(t);
    const { userFile, projectFile } = sandbox;
    const names = ["max_turns", "output", "quiet", "brief", "temperature"] as const;
    put(userFile, "output: json\nquiet: true\nbrief: true\ntemperature: 0.1\n");
    put(projectFile, "max_turns: 9\ntemperature: 0.2\n");
    const env = { OFFSHOOT_BRIEF: "yes", OFFSHOOT_TEMPERATURE: "0.3" };
    const config = await loadConfig({ ...sandbox, env, flags: { temperature: "0.4" } });
    assert.deepEqual(
      names.map((name) => [config.get(name), config.sourceOf(name)]),
      [
        [9, `project file ${projectFile}`],
        ["json", `user file ${userFile}`],
        [true, `user file ${userFile}`],
        [true, "OFFSHOOT_BRIEF"],
        [0.4, "--temperature"],
      ],
    );
    assert.deepEqual(config.warnings, []);
  });

  it("fall back to the built-in values", async (t) => {
    const config = await loadConfig(createSandbox(t));
    assert.equal(config.get("max_turns"), 50);
    assert.equal(config.get("model"), undefined);
    assert.equal(config.get("store"), true);
    assert.deepEqual(
      config.entries().map(({ name, source }) => [name, source]),
      CONFIG_NAMES.map((name) => [name, "default"]),
    );
  });

  it("add up if a setting is joined, each with its source", async (t) => {
    const sandbox = createSandbox(t);
    put(
      userPaths({}, sandbox.home).configFile,
      "deny: ['command(rm *)']\nmcp_servers: {a: {url: 'https://a'}}\n",
    );
    put(join(sandbox.cwd, ".offshoot/config.yaml"), "deny: [shell]\nallow: [shell]\n");
    const env = { OFFSHOOT_DENY: "path(a,b), host(x)" };
    const config = await loadConfig({ ...sandbox, env, flags: { deny: ["fetch"] } });
    assert.deepEqual(config.get("deny"), [
      "command(rm *)",
      "shell",
      "path(a,b)",
      "host(x)",
      "fetch",
    ]);
    assert.deepEqual(
      config.layersOf("deny").map(({ source }) => source.replace(/ file .*/, "")),
      ["default", "user", "project", "OFFSHOOT_DENY", "--deny"],
    );
    assert.deepEqual(config.get("allow"), [], "a project's file allows nothing unasked");
  });

  it("read every setting from its variable", async (t) => {
    const texts: Record<string, string> = {
      string: "WORDS",
      number: "1.5",
      integer: "7000",
      boolean: "off",
      record: "postgres://me@db/offshoot",
      list: "read, bash_find,",
    };
    const maps: Record<string, JsonObject> = {
      models: { "custom/x": { context_tokens: 5 } },
      aliases: { fast: "openai/gpt-5.1" },
      vendors: { gpu1: { url: "http://gpu-1:8000/v1" } },
      options: { top_k: 40 },
      hooks: { no: { on: "before_tool", command: "exit 2" } },
      own_tools: { weather: { command: ["weather"], description: "The weather." } },
      mcp_servers: { files: { command: "npx", args: ["files"] } },
      "server.models": { fast: "openai/gpt-5.1" },
      "server.backing": { web_search: "brave/search" },
      "server.webhooks": { orders: { url: "https://x.org/hook", secret_name: "ORDERS_SECRET" } },
    };
    const values: Record<string, unknown> = {
      string: "WORDS",
      number: 1.5,
      integer: 7000,
      boolean: false,
      record: "postgres://me@db/offshoot",
      list: ["read", "bash_find"],
    };
    const sandbox = createSandbox(t);
    // A path before addresses is not a word; it has tests of its own.
    const names = CONFIG_NAMES.filter((name) => name !== "server.path_prefix");
    const rows = names.map((name) => [name, rowOf(name)] as const);
    const pick = (name: string, row: ReturnType<typeof rowOf>): string => {
      if (row.type === "map") return JSON.stringify(maps[name]);
      return row.type === "enum" ? (row.values.at(-1) ?? "") : (texts[row.type] ?? "");
    };
    const inRange = (row: ReturnType<typeof rowOf>): boolean =>
      row.type !== "integer" || (row.max ?? Infinity) >= 7000;
    const env = Object.fromEntries(
      rows.map(([name, row]) => [variableOf(name), inRange(row) ? pick(name, row) : "7"]),
    );
    const config = await loadConfig({ ...sandbox, env });
    for (const [name, row] of rows) {
      const isPath = row.type === "string" && row.form === "path";
      const some = row.type === "map" ? maps[name] : values[row.type];
      const near = inRange(row) ? some : 7;
      const value = row.type === "enum" ? row.values.at(-1) : near;
      assert.deepEqual(config.get(name), isPath ? join(sandbox.cwd, "WORDS") : value, name);
      assert.equal(config.sourceOf(name), variableOf(name));
    }
  });

  it("take an empty variable for an unset one", async (t) => {
    const config = await loadConfig({ ...createSandbox(t), env: { OFFSHOOT_MODEL: "" } });
    assert.equal(config.sourceOf("model"), "default");
  });

  it("can be switched off with a `no-` flag", async (t) => {
    const config = await loadConfig({ ...createSandbox(t), flags: { "no-store": true } });
    assert.equal(config.get("store"), false);
    assert.equal(config.sourceOf("store"), "--no-store");
  });

  it("resolve a path relative to where it was written", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "store_path: runs.db\n");
    const near = await loadConfig(sandbox);
    assert.equal(near.get("store_path"), join(dirname(sandbox.userFile), "runs.db"));
    put(sandbox.userFile, "store_path: ~/runs.db\n");
    const home = await loadConfig(sandbox);
    assert.equal(home.get("store_path"), join(sandbox.home, "runs.db"));
  });

  it("report that the named file does not exist", async (t) => {
    const sandbox = createSandbox(t);
    const env = { OFFSHOOT_CONFIG: join(sandbox.home, "gone.yaml") };
    const { warnings } = await loadConfig({ ...sandbox, env });
    assert.match(warnings.join(), /OFFSHOOT_CONFIG.*gone\.yaml, which does not exist/);
  });

  it("use one file as the user's when both names lead to it", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "url: http://127.0.0.1:9/v1\n");
    const config = await loadConfig({ ...sandbox, env: { OFFSHOOT_CONFIG: sandbox.projectFile } });
    assert.equal(config.sourceOf("url"), `user file ${sandbox.projectFile}`);
    assert.deepEqual(config.warnings, []);
  });
});

describe("values from flags and variables", () => {
  const refusals: readonly [string, string, RegExp][] = [
    ["max-turns", "abc", /^`--max-turns` must be a whole number from 1 to 1000, not `abc`\.$/],
    ["max-turns", "0", /from 1 to 1000, not `0`/],
    ["max-turns", "1001", /from 1 to 1000, not `1001`/],
    ["max-turns", "1.5", /a whole number/],
    ["max-turns", "0x10", /not `0x10`/],
    ["max-turns", "", /not ``/],
    ["temperature", "3", /a number from 0 to 2, not `3`/],
    ["temperature", "NaN", /a number from 0 to 2/],
    ["max-tokens", "-1", /a whole number of 1 or more, not `-1`/],
    ["timeout", "Infinity", /a number from 0\.1/],
    ["output", "xml", /one of text, json, jsonl, sse, not `xml`/],
    ["model", "  ", /`--model` is empty\. Use VENDOR\/MODEL, for example openai\/gpt-5\.1\.$/],
  ];
  for (const [flag, text, message] of refusals) {
    it(`refuse --${flag} ${JSON.stringify(text)}`, async (t) => {
      const loading = loadConfig({ ...createSandbox(t), flags: { [flag]: text } });
      await assert.rejects(loading, { code: "invalid_request", message });
    });
  }

  it("never show a value that was written where a variable's name belongs", async (t) => {
    const key = "sk-proj-0123456789abcdefgh";
    const loading = loadConfig({ ...createSandbox(t), flags: { "api-key-name": key } });
    await assert.rejects(loading, (failure: Error) => {
      assert.match(failure.message, /`--api-key-name` must be the name of an environment variable/);
      assert.ok(!failure.message.includes(key));
      return true;
    });
  });

  it("name the variable with the invalid value", async (t) => {
    const loading = loadConfig({ ...createSandbox(t), env: { OFFSHOOT_THINK: "perhaps" } });
    await assert.rejects(loading, {
      message: "`OFFSHOOT_THINK` must be `true` or `false`, not `perhaps`.",
    });
  });
});
