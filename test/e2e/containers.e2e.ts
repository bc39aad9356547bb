/** Real containers: Python and a shell over their files, in the sandboxes of a server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds } from "../../src/base/ids.ts";
import {
  listContainerFiles,
  readContainerBytes,
  writeContainerFile,
} from "../../src/responses/containers/container-files.ts";
import { putContainer } from "../../src/responses/containers/containers.ts";
import { openInterpreter } from "../../src/responses/containers/open-interpreter.ts";
import { createOpenShell } from "../../src/responses/containers/open-shell.ts";
import type { CodeDetails } from "../../src/responses/containers/run-code.ts";
import { createFile } from "../../src/responses/files/files.ts";
import { parseNewFile } from "../../src/responses/files/new-file.ts";
import type { KindRequest } from "../../src/responses/kinds/tool-kind.ts";
import { createMemoryShelf } from "../../src/store/memory/memory-shelf.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { openSandbox } from "../../src/tools/sandbox/open-sandbox.ts";
import { type Tool, ToolOutput } from "../../src/tools/tool.ts";
import { SANDBOX_LACK, unless } from "../needs.ts";
import { patience } from "../patience.ts";
import { createWorkspaceFolder, toContext } from "../tools/workspace-folder.ts";

const NO_SETTINGS = { wheels: undefined, index: undefined };
const CONTAINER = { tenant: "t", containerId: "cntr_1" };

function createParts() {
  const clock = createManualClock(1_790_000_000_000);
  return { shelf: createMemoryShelf(), clock, makeId: createIds(clock), settings: NO_SETTINGS };
}
type Parts = ReturnType<typeof createParts>;

const request: KindRequest = {
  tenant: "t",
  runId: "run_1",
  include: new Set(),
  catalogue: [],
  get signal() {
    return patience();
  },
};

/** Calls a tool like one run: what it keeps lasts until `use` has ended. */
async function inRun(use: (call: (tool: Tool, input: object) => Promise<ToolOutput>) => unknown) {
  using folder = createWorkspaceFolder({ "secret.txt": "of the server" });
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  const parts = { root: folder.root, env, network: false, hidden: [] };
  const sandbox = await openSandbox("process", parts);
  const context = { ...(await toContext(folder.root, request.signal)), sandbox };
  try {
    await use(async (tool, input) => {
      const returned = await tool.run(tool.parse(input as never), context);
      assert.ok(returned instanceof ToolOutput);
      return returned;
    });
  } finally {
    await context.scope.close();
    await sandbox.close();
  }
}

const detailsOf = ({ details }: ToolOutput): CodeDetails => details as unknown as CodeDetails;

async function textsOf(parts: Parts, container = CONTAINER): Promise<Record<string, string>> {
  const files = await listContainerFiles(parts.shelf, container);
  const texts = files.map(async (file) => {
    const bytes = await readContainerBytes(parts.shelf, container, file);
    return [file.path, bytes.toString()] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

async function* streamOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe("a code interpreter", () => {
  it("reads and writes the container's files, and keeps its variables for the run", async () => {
    const parts = createParts();
    const asked = parseNewFile("in.csv", { purpose: "user_data" });
    const bytes = { bytes: streamOf("a,b\n1,2\n"), maxBytes: 100 };
    const { id } = await createFile(parts, "t", asked, bytes);
    const container = { type: "auto" as const, file_ids: [id] };
    const tool = { type: "code_interpreter", container } as const;
    const opened = await openInterpreter(parts, tool, request);
    assert.equal(opened.containerId, CONTAINER.containerId);
    await inRun(async (call) => {
      const first = await call(opened.tool, {
        code: "import os\nprint(os.getcwd(), os.listdir())\nx = open('in.csv').read()\nlen(x)",
      });
      assert.equal(first.value, "/mnt/data ['in.csv']\n8");
      assert.deepEqual(detailsOf(first).outputs, [{ type: "logs", logs: String(first.value) }]);
      const large = "open('in.csv', 'w').write(x.upper())\nos.mkdir('d')\n";
      const second = await call(opened.tool, {
        code: `${large}open('d/big.bin', 'wb').write(bytes(range(256)) * 400);`,
      });
      assert.match(String(second.value), /Files written: .*big\.bin \(102400 bytes\)/);
      assert.deepEqual(
        detailsOf(second)
          .files.map(({ path }) => path)
          .sort(),
        ["/mnt/data/d/big.bin", "/mnt/data/in.csv"],
      );
    });
    const files = await listContainerFiles(parts.shelf, CONTAINER);
    assert.deepEqual(files.map(({ path }) => path).sort(), ["d/big.bin", "in.csv"]);
    const big = files.find(({ path }) => path === "d/big.bin");
    assert.ok(big);
    const read = await readContainerBytes(parts.shelf, CONTAINER, big);
    assert.ok(read.equals(Buffer.concat(Array(400).fill(Buffer.from([...Array(256).keys()])))));
    assert.equal((await textsOf(parts))["in.csv"], "A,B\n1,2\n");

    const later = await openInterpreter(
      parts,
      { type: "code_interpreter", container: "cntr_1" },
      {
        ...request,
        runId: "run_2",
      },
    );
    await inRun(async (call) => {
      const again = await call(later.tool, { code: "print(open('in.csv').read().strip())\nx" });
      assert.match(String(again.value), /^A,B\n1,2\n.*NameError/s);
      await writeContainerFile(parts, CONTAINER, {
        path: "new.txt",
        source: "user",
        bytes: streamOf("put in meanwhile"),
        maxBytes: 99,
      });
      const seen = await call(later.tool, { code: "open('new.txt').read()" });
      assert.equal(seen.value, "'put in meanwhile'");
    });
  });

  it("shows images, and reports errors", async () => {
    const parts = createParts();
    await putContainer(parts, "t", "cntr_1", { name: "n", minutes: 20, memoryLimit: "1g" });
    const tool = { type: "code_interpreter", container: "cntr_1" } as const;
    const opened = await openInterpreter(parts, tool, request);
    await inRun(async (call) => {
      const png = `open('dot.png', 'wb').write(b"\\x89PNG\\r\\n\\x1a\\n" + b"rest");`;
      const drawn = await call(opened.tool, { code: png });
      assert.equal(drawn.parts[0]?.type, "input_image");
      const image = detailsOf(drawn).outputs.at(-1);
      assert.ok(image?.type === "image" && image.url.startsWith("data:image/png;base64,"));
      const failed = await call(opened.tool, { code: "1 / 0" });
      assert.match(String(failed.value), /ZeroDivisionError/);
    });
  });
});

describe("a hosted shell", () => {
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], SECRET_KEY: "LEAK" };
  const auto = { type: "shell", environment: { type: "container_auto" } } as const;
  const outputsOf = ({ value }: ToolOutput) =>
    (value as unknown as { output: readonly { stdout: string; outcome: object }[] }).output;

  const held = unless(SANDBOX_LACK);

  it(
    ...held("works on the container's files, sees nothing of the server and has no network"),
    async () => {
      const parts = createParts();
      const open = createOpenShell({ ...parts, level: "sandbox", env });
      const { tool, containerId } = await open(auto, request);
      assert.equal(containerId, CONTAINER.containerId);
      await inRun(async (call) => {
        const first = await call(tool, { commands: ["echo one > a.txt", "cat a.txt; exit 3"] });
        assert.deepEqual(outputsOf(first), [
          { stdout: "", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "one\n", stderr: "", outcome: { type: "exit", exit_code: 3 } },
        ]);
        const tries = [
          "cat ../../*/root/secret.txt $HOME/.profile /root/.profile /etc/shadow 2>/dev/null",
          "env | grep LEAK",
          "(echo > /dev/tcp/127.0.0.1/22) 2>/dev/null && echo open",
          "ls / | grep -c . > count.txt; ln -s /etc/passwd link",
        ];
        const tried = outputsOf(await call(tool, { commands: tries }));
        assert.deepEqual(
          tried.map(({ stdout }) => stdout),
          ["", "", "", ""],
        );
      });
      assert.deepEqual(Object.keys(await textsOf(parts)).sort(), ["a.txt", "count.txt"]);
      assert.equal((await textsOf(parts))["a.txt"], "one\n");
    },
  );

  it(
    ...held("stops a command at its time, cuts what it writes, and shares files with Python"),
    async () => {
      const parts = createParts();
      const open = createOpenShell({ ...parts, level: "sandbox", env });
      const { tool } = await open(auto, request);
      const python = await openInterpreter(parts, { type: "code_interpreter" }, request);
      await inRun(async (call) => {
        const cut = await call(tool, { commands: ["echo 123456789"], max_output_length: 4 });
        const late = await call(tool, {
          commands: ["sleep 100000", "echo never"],
          timeout_ms: 200,
        });
        assert.deepEqual(
          [...outputsOf(cut), ...outputsOf(late)].map(({ stdout, outcome }) => ({
            stdout,
            outcome,
          })),
          [
            { stdout: "1234", outcome: { type: "exit", exit_code: 0 } },
            { stdout: "", outcome: { type: "timeout" } },
          ],
        );
        await call(python.tool, { code: "open('p.txt', 'w').write('from Python');" });
        const read = await call(tool, { commands: ["cat p.txt; echo shell > s.txt"] });
        assert.equal(outputsOf(read)[0]?.stdout, "from Python");
        const back = await call(python.tool, { code: "open('s.txt').read()" });
        assert.equal(back.value, "'shell\\n'");
      });
    },
  );

  it("is refused if commands cannot be contained", async () => {
    const open = createOpenShell({ ...createParts(), level: "sandbox", env: { PATH: "/nowhere" } });
    await assert.rejects(open(auto, request), /runs no shell: .*bubblewrap is not installed/);
  });
});
