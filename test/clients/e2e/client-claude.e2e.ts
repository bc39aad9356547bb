/**
 * Claude Code against the built server, on a scripted model that is not Claude: only where `claude` is on the path.
 * It has a home of its own, and telemetry and updates are off.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, unless } from "../../needs.ts";
import { KEY, serveEmbedded, TIMEOUT } from "./client-bench.ts";

describe("Claude Code", () => {
  const [name, options] = unless(programLack("claude"))("answers from a model that is not Claude");
  it(name, { ...TIMEOUT, ...options }, async () => {
    await using bench = await serveEmbedded();
    const home = await mkdtemp(join(tmpdir(), "offshoot-claude-"));
    try {
      const { code, stdout, stderr } = await runClaude(
        bench.served.url,
        home,
        "compute 12 * (3 + 4)",
      );
      assert.equal(code, 0, stderr);
      assert.match(stdout, /84/);
    } finally {
      await rm(home, { recursive: true, force: true, maxRetries: 3 });
    }
  });
});

interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function runClaude(url: string, home: string, prompt: string): Promise<Said> {
  const model = "embedded/offline";
  const child = spawn("claude", ["-p", prompt], {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...{ PATH: process.env["PATH"], HOME: home, ANTHROPIC_BASE_URL: url },
      ...{ ANTHROPIC_AUTH_TOKEN: KEY, ANTHROPIC_MODEL: model, DISABLE_AUTOUPDATER: "1" },
      ...{ ANTHROPIC_DEFAULT_HAIKU_MODEL: model, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
      ...{ ANTHROPIC_DEFAULT_SONNET_MODEL: model, ANTHROPIC_DEFAULT_OPUS_MODEL: model },
    },
  });
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (piece: string) => {
      said[stream] += piece;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...said };
}
