/** docs/first-hour.md: its commands, in their order, with a stand-in for the model's server. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { reply, respond, startResponsesUpstream } from "../../src/testing/index.ts";
import { patience } from "../patience.ts";
import { CLI, createPlace, type Place } from "./command.ts";

const PAGE = fileURLToPath(new URL("../../../docs/first-hour.md", import.meta.url));
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** What the page's reader has: a project with notes, a schema and a change. */
const FILES = {
  "README.md": "# Garden\n\nGrows things.\n",
  "notes.md": "Water the beans.\n",
  "city.json": JSON.stringify({ ...SCHEMA, additionalProperties: false }),
};

/** The lines of the blocks that a reader types as they stand. */
async function readLines(): Promise<string[]> {
  const page = await readFile(PAGE, "utf8");
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, text = ""]) => text.trim().split("\n"));
}

async function type(
  line: string,
  place: Place,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const shell = spawn("/bin/sh", ["-c", line], {
    cwd: place.cwd,
    env: { ...env, HOME: place.home },
    stdio: ["ignore", "pipe", "pipe"],
    signal: patience(),
  });
  let [stdout, stderr] = ["", ""];
  shell.stdout.on("data", (piece) => {
    stdout += String(piece);
  });
  shell.stderr.on("data", (piece) => {
    stderr += String(piece);
  });
  const [code] = await once(shell, "close");
  return { code, stdout, stderr };
}

describe("docs/first-hour.md", () => {
  it("has commands that all work, in their order", async () => {
    const engine = respond((request) =>
      JSON.stringify(request).includes("Eiffel")
        ? reply.text('{"city":"Paris"}')
        : reply.text("Hello there, friend of gardens."),
    );
    await using place = await createPlace(FILES);
    const upstream = await startResponsesUpstream({ engine });
    try {
      const bin = join(place.home, "bin");
      await mkdir(bin);
      await writeFile(
        join(bin, "offshoot"),
        `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`,
      );
      await chmod(join(bin, "offshoot"), 0o755);
      const env = {
        PATH: [bin, process.env["PATH"]].join(delimiter),
        OPENAI_API_KEY: "sk-test",
        OPENAI_BASE_URL: upstream.url,
        OFFSHOOT_PROBE_LOCAL: "false",
      };
      const lines = await readLines();
      assert.ok(lines.length >= 15, "the page has its commands");
      for (const line of lines) {
        const [id = ""] = await place.runIds();
        const typed = line.replace(/\bID\b/, id.split("/")[0] ?? "");
        const { code, stdout, stderr } = await type(typed, place, env);
        assert.equal(code, 0, `${typed}\n${stderr}`);
        assert.notEqual(stdout, "", typed);
      }
      assert.ok(upstream.requests.length >= 6);
    } finally {
      await upstream.close();
    }
  });
});
