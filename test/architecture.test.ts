/** Who may import whom. The tree is the map: a room that is not in the table fails. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, it } from "node:test";

const ROOT = new URL("../../", import.meta.url);

/** A room opens all of it; a file or folder opens that and nothing else of its room. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  protocol: ["base"],
  providers: ["base", "protocol", "version.ts", "store/vendor-limits.ts"],
  tools: ["base", "protocol"],
  store: ["base", "protocol"],
  engine: ["base", "protocol", "store"],
  agent: [
    "base",
    "protocol",
    "providers/provider.ts",
    "tools/gate",
    "tools/sandbox/sandbox.ts",
    "engine/engine.ts",
  ],
  responses: [
    "base",
    "protocol",
    "agent",
    "delegation",
    "tools",
    "store/shelf.ts",
    "store/chunk-store.ts",
    // How the ending of a body that threw is written: the engine's rule, for the author of a body.
    "engine/ending.ts",
    "engine/engine.ts",
    "engine/read-log.ts",
    "engine/run-code.ts",
    "providers/provider.ts",
    "providers/embeddings/embedder.ts",
  ],
  delegation: [
    "base",
    "protocol",
    "agent",
    "tools",
    "engine/engine.ts",
    "engine/read-log.ts",
    "providers/provider.ts",
  ],
  runtime: [
    "base",
    "protocol",
    "providers",
    "tools",
    "store",
    "engine",
    "agent",
    "delegation",
    "responses",
    "version.ts",
  ],
  server: [
    "base",
    "protocol",
    "providers",
    "tools",
    "store",
    "engine",
    "agent",
    "delegation",
    "responses",
    "runtime",
    "version.ts",
  ],
  cli: [
    "base",
    "protocol",
    "providers",
    "tools",
    "store",
    "engine",
    "agent",
    "delegation",
    "responses",
    "runtime",
    "server",
    "version.ts",
  ],
  frameworks: ["base"],
  testing: ["base", "protocol", "providers/provider.ts", "providers/embedded"],
  // Of agents and delegation the types alone that stand in the signatures of the runtime.
  "index.ts": [
    ...["agent/limits.ts", "agent/task.ts", "base"],
    ...["delegation/agents/definition.ts", "delegation/agents/own-agents.ts", "delegation/plan.ts"],
    ...["delegation/settings.ts", "delegation/subagent-events.ts", "engine/engine.ts"],
    ...["protocol", "providers", "responses", "runtime", "tools", "version.ts"],
  ],
  "version.ts": [],
};

/**
 * The folders of a room, each of which imports those before it and none after it, values and types alike: so the
 * room can be read from the first to the last. A file of such a room stands in one of its folders.
 */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  responses: [
    // Whose request it is, what it says, and what it names of models and prompts.
    ...["tenant", "models", "prompts", "request"],
    // A log as the API's events and objects, for its followers.
    ...["fold", "follow", "sealing"],
    // What is kept for tenants beside runs.
    ...["files", "vector-stores", "media", "kept", "conversations", "references"],
    // Tools that not every model knows, and what stands between them and the model.
    ...["kinds", "containers", "images", "bridge", "multi-agent"],
    // How a response is answered: by a model alone, or by a run.
    ...["direct", "run"],
    // Who is told that one has ended.
    "webhooks",
    // What a client may ask.
    ...["embeddings", "chat", "messages", "api"],
  ],
};

/** Folders of these may load each other in a circle, as listed. In all other rooms each folder can be read after those it loads. */
const CIRCLES: Readonly<Record<string, readonly string[]>> = {
  agent: ["agent", "agent/context"],
  delegation: [
    ...["delegation", "delegation/agents", "delegation/executors", "delegation/ledger"],
    ...["delegation/telemetry", "delegation/tools"],
  ],
  protocol: ["protocol", "protocol/hosted-kinds"],
  providers: ["providers/embedded", "providers/embedded/intents", "providers/embedded/schema"],
  runtime: [
    ...["runtime", "runtime/auth", "runtime/config", "runtime/record", "runtime/run-steps"],
    ...["runtime/served-models", "runtime/sessions"],
  ],
  server: [
    ...["server", "server/console", "server/embedded", "server/guard", "server/routes"],
    ...["server/running", "server/socket", "server/watching"],
  ],
};

/** What an engine writes and no other part reads. */
const ENGINES_OWN = ["store", "journal", "ownership", "mailbox", "turns"];
const RUN_INTERFACES = ["run-reader", ...ENGINES_OWN];

const files = readdirSync(new URL("src", ROOT), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .sort();

describe("the architecture", () => {
  it("the check of imports finds the files of src", () =>
    assert.ok(files.length > 100, `only ${files.length} files`));

  for (const file of files) {
    it(`src/${file} keeps to its room`, () => {
      const room = file.split("/", 1)[0] ?? "";
      const allowed = [room, ...(MAY_IMPORT[room] ?? assert.fail(`${room} is not in the table`))];
      for (const target of localImports(file)) {
        const open = allowed.some((entry) => target === entry || target.startsWith(`${entry}/`));
        assert.ok(open, `${room} may not import ${target}`);
      }
    });
  }

  for (const [room, folders] of Object.entries(FOLDERS)) {
    it(`orders the folders of src/${room}`, () => {
      const inRoom = files.filter((file) => file.startsWith(`${room}/`));
      const against = inRoom.flatMap((file) =>
        localImports(file)
          .filter((target) => target.startsWith(`${room}/`))
          .filter((target) => placeIn(folders, target) > placeIn(folders, file))
          .map((target) => `${file} imports ${target}`),
      );
      assert.deepEqual(against, []);
      assert.deepEqual(
        folders.filter((folder) => !inRoom.some((file) => file.startsWith(`${room}/${folder}/`))),
        [],
      );
    });
  }

  it("has no circle of folders besides the listed ones", () => {
    const leads = new Map<string, Set<string>>();
    for (const file of files) {
      const from = posix.dirname(file);
      const local = valueImports(file).filter((path) => path.startsWith("."));
      for (const path of local) {
        const to = posix.dirname(posix.join(from, path));
        if (to.split("/", 1)[0] !== from.split("/", 1)[0] || to === from) continue;
        leads.set(from, (leads.get(from) ?? new Set()).add(to));
      }
    }
    const listed = Object.values(CIRCLES).flat();
    const found = [...leads.keys()].filter((folder) => reach(leads, folder).has(folder));
    assert.deepEqual(found.sort(), listed.sort());
  });

  it("opens what is kept through one door, which alone knows a database", () => {
    for (const file of files.filter((path) => !path.startsWith("store/"))) {
      for (const target of localImports(file)) {
        assert.doesNotMatch(target, /^store\/(sqlite|postgres)\//, `src/${file}`);
      }
    }
    const interfaces = ["audit", "chunk-store", "kept", "shelf", "spending", ...RUN_INTERFACES];
    for (const name of interfaces) {
      const found = localImports(`store/${name}.ts`).filter((path) => /sqlite|memory/.test(path));
      assert.deepEqual(found, [], `store/${name}.ts`);
    }
  });

  it("leaves the engine's half of a record to the engine", () => {
    const own = ENGINES_OWN.map((name) => `store/${name}.ts`);
    for (const file of files.filter((path) => !/^(store|engine)\//.test(path))) {
      for (const target of localImports(file)) {
        assert.ok(!own.includes(target), `src/${file} imports ${target}`);
      }
      const source = withoutComments(readFileSync(new URL(`src/${file}`, ROOT), "utf8"));
      assert.ok(!/\bkept\.runs\(/.test(source), `src/${file} takes the engine's half`);
    }
  });

  it("keeps the network, the clock and the process at their edges", () => {
    const edges: readonly (readonly [RegExp, readonly string[]])[] = [
      [/\bDate\.now\(/, ["base/clock.ts"]],
      [/\bfetch\(/, []],
      [/\bprocess\.exit\b/, ["cli/"]],
      [/\bprocess\.argv\b/, ["cli/bin.ts"]],
    ];
    for (const file of files) {
      const source = withoutComments(readFileSync(new URL(`src/${file}`, ROOT), "utf8"));
      for (const [pattern, places] of edges) {
        if (places.some((place) => file.startsWith(place))) continue;
        assert.ok(!pattern.test(source), `src/${file} uses ${pattern.source}`);
      }
    }
  });
});

/** What the command's own tables and a run may load with their first line. */
const MOST_RUN_KB = 785;

describe("what a run loads before it knows its model", () => {
  const loaded = staticClosure("cli/commands/run.ts");

  it("the check of early imports finds the modules of the command", () =>
    assert.ok(loaded.size > 30, `only ${loaded.size} modules`));

  for (const part of [
    "azure",
    "bedrock",
    "chat",
    "embedded",
    "gemini",
    "gguf",
    "llamacpp",
    "messages",
  ]) {
    it(`has nothing of providers/${part}`, () => {
      const found = [...loaded].filter((file) => file.startsWith(`providers/${part}/`));
      assert.deepEqual(found, []);
    });
  }

  // What a plain run does not do comes with the first call, question or file that needs it.
  for (const part of [
    "agent/context/summariser.ts",
    "agent/context/turn-compactor.ts",
    "agent/tool-calls.ts",
    "cli/chat/",
    "cli/screen/",
    "delegation/agents/agent-file.ts",
    "delegation/agents/agent-wish.ts",
    "delegation/background.ts",
    "delegation/child-task.ts",
    "delegation/conversations.ts",
    "delegation/executors/child-process.ts",
    "delegation/plan.ts",
    "delegation/replay/",
    "delegation/spawn.ts",
    "delegation/telemetry/telemetry.ts",
    "delegation/tools/subagent.ts",
    "delegation/tools/parallel-subagent.ts",
    "runtime/replay.ts",
    "runtime/open-responses.ts",
    "store/postgres/",
    "store/sqlite/",
    "tools/commands/shell-text.ts",
    "tools/gate/judge.ts",
    "tools/gate/touch.ts",
    "tools/mcp/session/",
    "tools/sandbox/git-paths.ts",
    "tools/sandbox/open-sandbox.ts",
    "tools/web/network/exchange.ts",
  ]) {
    it(`has nothing of ${part}`, () => {
      assert.ok(existsSync(new URL(`src/${part}`, ROOT)), `there is no src/${part}`);
      assert.deepEqual(
        [...loaded].filter((file) => file.startsWith(part)),
        [],
      );
    });
  }

  // Every kilobyte is read by V8 before the first line runs: about 0.2 million instructions (bench/start.ts).
  // Before you raise it, look for code that can be loaded later.
  it(`has at most ${MOST_RUN_KB} kB of code`, () => {
    const sizes = [...loaded].map((file) => codeOf(file).length);
    const total = sizes.reduce((sum, size) => sum + size, 0) / 1000;
    assert.ok(total <= MOST_RUN_KB, `${Math.round(total)} kB in ${loaded.size} modules`);
  });

  it("has no schema library, no YAML and no cloud's code", () => {
    const packages = [...loaded].flatMap((file) => packageImports(file));
    for (const name of [
      "zod",
      "ajv",
      "yaml",
      "undici",
      "google-auth-library",
      "@smithy/signature-v4",
      "@modelcontextprotocol/sdk",
      "pyodide",
      "linkedom",
      "turndown",
      "unpdf",
      "@mozilla/readability",
      "ipaddr.js",
      "robots-parser",
      "@vscode/ripgrep",
    ]) {
      assert.ok(!packages.includes(name), name);
    }
  });
});

/** A module without its comments, and without its types where they are easily told. */
function codeOf(file: string): string {
  const source = withoutComments(readFileSync(new URL(`src/${file}`, ROOT), "utf8"));
  return source.replace(/^(?:export )?(?:interface|type) [\s\S]*?^(?:\}|.*;)$/gm, "");
}

/** All folders that are loaded by this one, or by those. */
function reach(leads: ReadonlyMap<string, ReadonlySet<string>>, folder: string): Set<string> {
  const seen = new Set<string>();
  const visit = (from: string): void => {
    for (const to of leads.get(from) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      visit(to);
    }
  };
  visit(folder);
  return seen;
}

/** Where in the order of its room a file stands. */
function placeIn(folders: readonly string[], file: string): number {
  const [, folder = "", ...rest] = file.split("/");
  const place = rest.length > 0 ? folders.indexOf(folder) : -1;
  if (place < 0) assert.fail(`src/${file} stands in no folder of its room's order`);
  return place;
}

/** Every module that is loaded with this one: static imports of values, not types and not `import()`. */
function staticClosure(entry: string): Set<string> {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const target of valueImports(file).filter((path) => path.startsWith("."))) {
      visit(posix.join(posix.dirname(file), target));
    }
  };
  visit(entry);
  return seen;
}

function packageImports(file: string): string[] {
  return valueImports(file).filter((path) => !path.startsWith("."));
}

function valueImports(file: string): string[] {
  const source = withoutComments(readFileSync(new URL(`src/${file}`, ROOT), "utf8"));
  const imports = source.matchAll(/^(?:import|export)\s+(?!type\b)([^;]*?)from\s+"([^"]+)";/gms);
  // `import { type A, type B }` is erased as a whole.
  const isErased = (names: string): boolean =>
    /^\{(?:\s*type\s+\w+(?:\s+as\s+\w+)?\s*,?)+\s*\}\s*$/.test(names);
  return [...imports].flatMap(([, names = "", path = ""]) => (isErased(names) ? [] : [path]));
}

function localImports(file: string): string[] {
  const source = readFileSync(new URL(`src/${file}`, ROOT), "utf8");
  const imports = source.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...imports].map((match) => posix.join(posix.dirname(file), match[1] ?? ""));
}

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
}
