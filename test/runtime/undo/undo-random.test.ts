/**
 * Undo over random changes of tools, with the user's own in between: everything is restored exactly, or nothing
 * changes.
 */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Json } from "../../../src/base/json.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import type { UndoReport } from "../../../src/runtime/undo/undo.ts";
import { createScriptedProvider, reply } from "../../../src/testing/index.ts";
import type { Effect, Tool } from "../../../src/tools/tool.ts";
import { type FolderState, makeFolder, readFolder } from "./folder-state.ts";

const PATHS = ["a", "b", "d/a", "d/b", "d/e/c"] as const;
const FOLDERS = ["d", "d/e", "f"] as const;

/** One change. `tool`: through `file_ops`. `command`: by a program. `user`: by a person. */
interface Deed {
  readonly who: "tool" | "command" | "user";
  readonly what: "write" | "append" | "remove" | "move" | "folder" | "chmod" | "link";
  readonly path: string;
  readonly to: string;
  readonly content: string;
}

const place = fc.constantFrom(...PATHS, ...FOLDERS);
const deed = (who: fc.Arbitrary<Deed["who"]>): fc.Arbitrary<Deed> =>
  fc.record({
    who,
    what: fc.constantFrom("write", "append", "remove", "move", "folder", "chmod", "link"),
    path: place,
    to: place,
    content: fc.constantFrom("", "one\n", "two\n", "\u0000\u00ff binary", "three"),
  });
const tools = deed(fc.constantFrom("tool", "command"));
const all = deed(fc.constantFrom("tool", "tool", "command", "user"));
/** What exists at first. */
const first = fc.array(deed(fc.constant("user")), { maxLength: 6 });

const OPERATIONS: Readonly<Partial<Record<Deed["what"], string>>> = {
  write: "write",
  append: "append",
  remove: "delete",
  move: "move",
  folder: "create_directory",
};

/** By a program or a person: what does not work is skipped. */
function doDirectly(root: string, { what, path, to, content }: Deed): void {
  const at = join(root, path);
  try {
    if (what === "write") writeFileSync(at, Buffer.from(content, "latin1"));
    else if (what === "append") writeFileSync(at, content, { flag: "a" });
    else if (what === "remove") unlinkSync(at);
    else if (what === "move") renameSync(at, join(root, to));
    else if (what === "folder") mkdirSync(at, { recursive: true });
    else if (what === "chmod") chmodSync(at, 0o755);
    else symlinkSync("a", at);
  } catch {
    // A file where a folder is needed, or nothing there.
  }
}

interface World {
  readonly root: string;
  /** What each path was before the first change of the tools to it. */
  readonly original: Map<string, string>;
  /** What the tools left at each path that they changed. */
  readonly left: Map<string, string>;
  /** Paths where the user changed what the tools had left, before the tools changed it again. */
  readonly mixed: Set<string>;
}

/** Learns what a change of the tools did. */
function learn(world: World, before: FolderState, after: FolderState): void {
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const old = before.get(path) ?? "none";
    const now = after.get(path) ?? "none";
    if (old === now) continue;
    const left = world.left.get(path);
    if (left === undefined) world.original.set(path, old);
    else if (left !== old) world.mixed.add(path);
    world.left.set(path, now);
  }
}

function toTool(name: string, effect: Effect, run: (input: Json) => Promise<Json>): Tool {
  const parameters = { type: "object", properties: {} };
  return {
    spec: { type: "function", name, description: name, parameters, strict: false },
    readOnly: false,
    effect,
    parse: (input) => input,
    run: (input) => run(input as Json),
  };
}

type Undoing = (id?: string) => Promise<UndoReport>;

/** A run does the changes; then `check` is called with a function that undoes it, or another run. */
async function play(
  root: string,
  deeds: readonly Deed[],
  check: (world: World, undo: Undoing) => Promise<void>,
): Promise<void> {
  const world: World = { root, original: new Map(), left: new Map(), mixed: new Set() };
  const scripted = createScriptedProvider(...deeds.map(toReply), reply.text("Done."));
  let before = readFolder(root);
  const provider: Provider = {
    ...scripted,
    // Each change is done when the model is asked for the next.
    async *stream(request, call) {
      const after = readFolder(root);
      const done = deeds[scripted.requests.length - 1];
      if (done && done.who !== "user") learn(world, before, after);
      before = after;
      yield* scripted.stream(request, call);
    },
  };
  const direct = async (input: Json): Promise<Json> => {
    doDirectly(root, input as unknown as Deed);
    return "done";
  };
  const user = { ...toTool("user", "own", direct), readOnly: true };
  const runtime = await createRuntime({
    env: {},
    provider,
    tools: [toTool("command", "execute", direct), user],
  });
  try {
    const wish = { tools: ["file_ops", "command", "user"], approve: "auto", root } as const;
    const asked = { model: "scripted/one", input: "Go", max_turns: 100 };
    const run = await runtime.run({ ...wish, ...asked });
    assert.equal((await run.result()).ending, "completed");
    await check(world, (id = run.id) => runtime.undo({ run: id }));
  } finally {
    await runtime.close();
  }
}

function toReply({ who, what, path, to, content }: Deed): ReturnType<typeof reply.calls> {
  const operation = OPERATIONS[what] ?? "write";
  const given = { operation, path, content, ...(what === "move" ? { to } : {}) };
  const input = who === "tool" ? given : { who, what, path, to, content };
  return reply.calls([{ name: who === "tool" ? "file_ops" : who, arguments: input }]);
}

/** The paths that the tools changed, without those that they restored themselves. */
function listChanged({ original, left, mixed }: World): string[] {
  return [...left.keys()].filter(
    (path) => mixed.has(path) || left.get(path) !== original.get(path),
  );
}

/** The expected state after an undo: what the tools changed as it was, everything else as it is. */
function toExpected(world: World): FolderState {
  const expected = new Map(readFolder(world.root));
  for (const path of listChanged(world)) {
    const state = world.original.get(path) ?? "none";
    if (state === "none") expected.delete(path);
    else expected.set(path, state);
  }
  return new Map([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const RUNS = { numRuns: 40 };

/** A file of the user's in a folder of the tools, which they removed: it cannot come back without the folder. */
const INSIDE: [Deed[], Deed[], Deed[]] = [
  [],
  [
    { who: "tool", what: "folder", path: "d", to: "a", content: "" },
    { who: "user", what: "write", path: "d/a", to: "a", content: "" },
    { who: "tool", what: "remove", path: "d/a", to: "a", content: "" },
  ],
  [],
];

describe("an undo of random changes", () => {
  it("restores exactly what the tools changed, and redoes it, if the user changed no file", async () => {
    await fc.assert(
      fc.asyncProperty(first, fc.array(tools, { maxLength: 12 }), async (begun, deeds) => {
        using folder = makeFolder();
        for (const one of begun) doDirectly(folder.root, one);
        const start = readFolder(folder.root);
        await play(folder.root, deeds, async (_, undo) => {
          const end = readFolder(folder.root);
          const report = await undo();
          assert.deepEqual(report.obstacles, []);
          assert.deepEqual(readFolder(folder.root), start);
          if (report.undo === null) return assert.deepEqual(end, start);
          const redone = await undo(report.undo);
          assert.deepEqual(redone.obstacles, []);
          assert.deepEqual(readFolder(folder.root), end);
          await undo();
          assert.deepEqual(readFolder(folder.root), start);
        });
      }),
      RUNS,
    );
  });

  it("restores exactly, or refuses and changes nothing, whatever the user did meanwhile", async () => {
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(
        first,
        fc.array(all, { maxLength: 12 }),
        fc.array(deed(fc.constant("user")), { maxLength: 2 }),
        async (begun, deeds, later) => {
          using folder = makeFolder();
          for (const one of begun) doDirectly(folder.root, one);
          await play(folder.root, deeds, async (world, undo) => {
            for (const one of later) doDirectly(folder.root, one);
            const now = readFolder(folder.root);
            const expected = toExpected(world);
            const report = await undo();
            if (report.obstacles.length > 0) {
              refusals++;
              return assert.deepEqual(readFolder(folder.root), now);
            }
            assert.deepEqual(readFolder(folder.root), expected);
            assert.ok(!isForeign(world, now), "a change of the user's was overwritten");
          });
        },
      ),
      { ...RUNS, examples: [INSIDE] },
    );
    assert.ok(refusals > 0, "no example had a change of the user's");
  });
});

/** True if the user changed a file of the tools that is not as it was at first. */
function isForeign(world: World, now: FolderState): boolean {
  return listChanged(world).some((path) => {
    const there = now.get(path) ?? "none";
    const isLeft = there === world.left.get(path) && !world.mixed.has(path);
    return !isLeft && there !== world.original.get(path);
  });
}
