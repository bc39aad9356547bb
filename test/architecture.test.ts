/** Who may import whom. The tree is the map: a room that is not in the table fails. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, it } from "node:test";

const ROOT = new URL("../../", import.meta.url);

/** A room opens all of it; a file or folder opens that and nothing else of its room. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  protocol: ["base"],
  providers: ["base", "protocol", "version.ts"],
  tools: ["base", "protocol"],
  store: ["base", "protocol"],
  engine: ["base", "protocol", "store"],
  agent: ["base", "protocol", "providers/provider.ts", "tools/gate.ts", "engine/engine.ts"],
  responses: ["base", "protocol"],
  runtime: [
    "base",
    "protocol",
    "providers",
    "tools",
    "store",
    "engine",
    "agent",
    "responses",
    "version.ts",
  ],
  cli: [
    "base",
    "protocol",
    "providers",
    "tools",
    "store",
    "engine",
    "responses",
    "runtime",
    "version.ts",
  ],
  testing: ["base", "protocol", "providers/provider.ts", "providers/embedded"],
  "index.ts": ["base", "protocol", "providers", "responses", "runtime", "tools", "version.ts"],
  "version.ts": [],
};

const files = readdirSync(new URL("src", ROOT), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .sort();

describe("the architecture", () => {
  it("finds the tree", () => assert.ok(files.length > 100, `only ${files.length} files`));

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

function localImports(file: string): string[] {
  const source = readFileSync(new URL(`src/${file}`, ROOT), "utf8");
  const imports = source.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...imports].map((match) => posix.join(posix.dirname(file), match[1] ?? ""));
}

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
}
