import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { openWorkspace } from "../../src/tools/workspace/open-workspace.ts";
import type { Boundary } from "../../src/tools/workspace/workspace.ts";
import { programLack, unless } from "../needs.ts";
import { createWorkspaceFolder, toContext } from "../tools/workspace-folder.ts";
import { PATH_ROWS } from "./path-rows.ts";
import { MARKER, makeSurroundings, type PathRow } from "./path-world.ts";

const OPEN: Boundary = { mayRead: () => true, mayWrite: () => true, hardLinks: false };
const WAYS = process.platform === "linux" ? (["descriptor", "path"] as const) : (["path"] as const);

describe("the table of path attacks", () => {
  it("has at least sixty that are refused, each with a different name", () => {
    const refused = PATH_ROWS.filter(({ outcome }) => outcome !== "nothing");
    assert.ok(refused.length >= 60, String(refused.length));
    assert.equal(new Set(PATH_ROWS.map(({ name }) => name)).size, PATH_ROWS.length);
  });
});

for (const hold of WAYS) {
  describe(`path attacks, held by ${hold}`, () => {
    for (const row of PATH_ROWS) {
      const able = unless(row.needs && programLack(row.needs));
      it(...able(`${row.outcome}: ${row.tool.spec.name}, ${row.name}`), async () => {
        using folder = createWorkspaceFolder();
        const { root } = folder;
        makeSurroundings(root);
        row.setUp?.(root);
        const before = snapshot(root);
        let swap = row.swap;
        const checked = (): void => {
          swap?.(root);
          swap = undefined;
        };
        const workspace = await openWorkspace(root, OPEN, { hold, checked });
        const told = await attempt(row, { ...(await toContext(root)), workspace });
        assert.equal(told.code, row.outcome, told.text);
        assert.ok(!told.text.includes(MARKER), told.text);
        assert.equal(swap, undefined, "the swap did not happen");
        assert.deepEqual(snapshot(root), before);
        assert.ok(!existsSync("/tmp/offshoot-must-not-be-there"));
      });
    }
  });
}

async function attempt(
  { tool, input }: PathRow,
  context: Awaited<ReturnType<typeof toContext>>,
): Promise<{ code: string; text: string }> {
  const { root } = context.workspace;
  try {
    const parsed = tool.parse(typeof input === "function" ? input(root) : { ...input });
    return { code: "nothing", text: JSON.stringify(await tool.run(parsed, context)) };
  } catch (thrown) {
    assert.ok(thrown instanceof Failure, String(thrown));
    return { code: thrown.code, text: thrown.message };
  }
}

/** Everything outside, and everything protected inside. */
function snapshot(root: string): Record<string, string> {
  const places = [
    join(dirname(root), "outside"),
    ...[".git", ".offshoot", ".ssh", "lib"].map((name) => join(root, name)),
  ];
  const files = places.flatMap((place) =>
    readdirSync(place, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? readFileSync(path, "utf8") : "folder"] as const;
    }),
  );
  return Object.fromEntries(files);
}
