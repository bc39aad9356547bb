import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Interpreter } from "../../../src/tools/python/interpreter.ts";
import type { Request } from "../../../src/tools/python/messages.ts";
import { createPythonSession, type PythonSessionParts } from "../../../src/tools/python/session.ts";

const CALL = { code: "1", mem: "512m", memBytes: 512, timeoutMs: 30_000 };
const { signal } = new AbortController();

describe("a Python session", () => {
  it("starts one interpreter for all calls, and runs them one after the other", async () => {
    const { parts, opened, requests } = createParts();
    const session = createPythonSession(parts);
    await Promise.all([session.run(CALL, signal), session.run({ ...CALL, code: "2" }, signal)]);
    assert.equal(opened.length, 1);
    assert.deepEqual(codes(requests), ["1", "2"]);
  });

  it("reports what was lost with an interpreter, once, and only if there was something", async () => {
    const { parts, opened } = createParts({
      run: ({ code }) => {
        if (code === "late") throw new Failure("tool_failed", "Execution timed out after 30 s");
        if (code === "big") throw new Failure("tool_failed", "Execution failed: out of memory");
        return {};
      },
    });
    const session = createPythonSession(parts);
    const run = (code: string) => session.run({ ...CALL, code }, signal);
    await assert.rejects(run("late"), { message: "Execution timed out after 30 s." });
    assert.equal((await run("1")).note, undefined);
    await assert.rejects(run("big"), {
      message:
        "Execution failed: out of memory (512m). Variables and files of earlier calls are gone.",
    });
    assert.match((await run("1")).note ?? "", /restarted/);
    assert.equal((await run("1")).note, undefined);
    assert.deepEqual(opened, ["closed", "closed", "open"]);
    await session.close();
    assert.deepEqual(opened, ["closed", "closed", "closed"]);
  });

  it("starts a new interpreter for more memory, not for less", async () => {
    const { parts, opened } = createParts();
    const session = createPythonSession(parts);
    await session.run(CALL, signal);
    await session.run({ ...CALL, memBytes: 64 }, signal);
    assert.equal(opened.length, 1);
    const { note } = await session.run({ ...CALL, memBytes: 1024 }, signal);
    assert.match(note ?? "", /gone/);
    assert.deepEqual(opened, ["closed", "open"]);
  });

  it("installs modules and their requirements, and says how to get the rest", async () => {
    const { parts, requests } = createParts({
      imports: () => ({ names: ["one", "nobodys", "broken"] }),
      install: ({ wheels }) => ({
        names: wheels.some(({ name }) => name === "one") ? ["two", "one"] : [],
      }),
    });
    const session = createPythonSession({
      ...parts,
      findWheel: async (name) => {
        if (name === "broken") throw new Failure("tool_failed", "Its hash is another.");
        return name === "nobodys" ? undefined : { name, data: "" };
      },
    });
    await session.run({ ...CALL, code: "import one, nobodys, broken" }, signal);
    const installed = requests.flatMap((one) => (one.op === "install" ? one.wheels : []));
    assert.deepEqual(
      installed.map(({ name }) => name),
      ["one", "two"],
    );
    const last = requests.at(-1);
    assert.ok(last?.op === "run");
    assert.deepEqual(last.missing, { nobodys: "Get nobodys.", broken: "Its hash is another." });
  });

  it("waits for packages until its limit, then runs the code without them", async () => {
    const { parts, requests } = createParts({ imports: () => ({ names: ["slow", "slower"] }) });
    const findWheel = () => new Promise<undefined>(() => undefined);
    const session = createPythonSession({ ...parts, findWheel, packagesMs: 1 });
    await session.run({ ...CALL, code: "import slow, slower" }, signal);
    const last = requests.at(-1);
    assert.ok(last?.op === "run");
    const problem = "It could not be read within 0.001 s.";
    assert.deepEqual(last.missing, { slow: problem, slower: problem });
  });

  it("is cancelled while it waits for packages, and cancels the read", async () => {
    const { parts, opened } = createParts({ imports: () => ({ names: ["slow"] }) });
    const stop = new AbortController();
    let told: AbortSignal | undefined;
    const findWheel = (_: string, limit: AbortSignal) => {
      told = limit;
      setImmediate(() => stop.abort());
      return new Promise<undefined>(() => undefined);
    };
    const session = createPythonSession({ ...parts, findWheel });
    const call = session.run({ ...CALL, code: "import slow" }, stop.signal);
    await assert.rejects(call, { code: "cancelled" });
    assert.equal(told?.aborted, true);
    assert.deepEqual(opened, ["closed"]);
  });
});

type Replies = {
  readonly [Op in Request["op"]]?: (request: Extract<Request, { op: Op }>) => JsonObject;
};

function createParts(replies: Replies = {}): {
  parts: PythonSessionParts;
  opened: string[];
  requests: Request[];
} {
  const opened: string[] = [];
  const requests: Request[] = [];
  const open = async (): Promise<Interpreter> => {
    const index = opened.push("open") - 1;
    return {
      async ask(request) {
        requests.push(request);
        const reply = replies[request.op] as ((request: Request) => JsonObject) | undefined;
        return reply?.(request) ?? {};
      },
      async close() {
        opened[index] = "closed";
      },
    };
  };
  const parts = { open, findWheel: undefined, howToGet: (name: string) => `Get ${name}.` };
  return { parts, opened, requests };
}

function codes(requests: readonly Request[]): string[] {
  return requests.flatMap((request) => (request.op === "run" ? request.code : []));
}
