/**
 * The examples that need other processes: the built command, an MCP server, a process that is killed, a
 * database.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, readAnswer } from "../../examples/postgres.ts";
import { unless } from "../needs.ts";
import { PATIENCE_MS, patience } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { CLI, createPlace, type Place } from "./command.ts";
import { runShell } from "./shell.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Starts a compiled example in the folder of the place. */
function start(place: Place, name: string, args: readonly string[] = []): ChildProcess {
  return spawn(process.execPath, [join(ROOT, "build/examples", `${name}.js`), ...args], {
    cwd: place.cwd,
    env: { PATH: process.env["PATH"], HOME: place.home },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: PATIENCE_MS,
  });
}

/** The output of an example until its end. */
async function printed(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  const [code] = await once(child, "close");
  assert.equal(code, 0, text);
  return text;
}

describe("the examples with processes of their own", () => {
  it("mcp-client.ts calls the tool of an MCP server", async () => {
    await using place = await createPlace();
    assert.match(await printed(start(place, "mcp-client")), /Bergen: high tide at 14:20/);
  });

  it("mcp-server.ts calls an agent as the tool of an MCP server", async () => {
    await using place = await createPlace();
    const lines = (await printed(start(place, "mcp-server", [CLI]))).split("\n");
    assert.match(lines[0] ?? "", /^agent agent_calculator run_continue run_status/);
    assert.match(lines[1] ?? "", /42/);
  });

  it("resume.ts continues the run of a process that was killed, and finds none after it", async () => {
    await using place = await createPlace();
    const first = start(place, "resume", ["begin", "record.db"]);
    const [said] = (await once(first.stdout ?? assert.fail(), "data", { signal: patience() })) as [
      Buffer,
    ];
    assert.match(String(said), /waiting/);
    first.kill("SIGKILL");
    await once(first, "close");
    const resume = (): Promise<string> => printed(start(place, "resume", ["resume", "record.db"]));
    assert.match(await resume(), /All is well\./);
    assert.equal(await resume(), "");
  });

  it("agents-as-files.sh runs an agent of a project's file", async () => {
    await using place = await createPlace();
    const script = join(ROOT, "examples/agents-as-files.sh");
    const { code, stdout, stderr } = await runShell(`sh '${script}'`, place);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /The library opens at nine\./);
  });

  it(
    ...unless(POSTGRES_LACK)("postgres.ts reads in one program what another one ran"),
    async () => {
      await using server = await startPostgres();
      const database = await server.newAddress();
      assert.match(await readAnswer(database, await ask(database, "compute 6*7")), /42/);
    },
  );
});
