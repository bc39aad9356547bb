/** The example of docs/webhooks.md, unchanged, with the built server: only its addresses differ. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { createPlace } from "../../e2e/command.ts";
import { serve } from "../../e2e/served.ts";
import { untilTrue } from "../../patience.ts";
import { KEY, TIMEOUT } from "./client-fixture.ts";

// From build/test/clients/e2e/ up to the checkout.
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const page = readFileSync(join(ROOT, "docs/webhooks.md"), "utf8");
const SHOWN_HOST = "127.0.0.1:8585";

/** The first block of a language on the page. */
function blockOf(language: string): string {
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page);
  return block?.[1] ?? assert.fail(`no block of ${language}`);
}

it("the example of docs/webhooks.md prints what the page says", TIMEOUT, async () => {
  await using place = await createPlace();
  const port = await findPort();
  const here = (text: string): string =>
    text.replaceAll(SHOWN_HOST, `127.0.0.1:${port}`).replaceAll("8585", String(port));
  const file = join(place.home, ".config", "offshoot", "config.yaml");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, here(blockOf("yaml")));
  await symlink(
    join(ROOT, "test/clients/node_modules"),
    join(place.cwd, "node_modules"),
    "junction",
  );
  await writeFile(join(place.cwd, "receiver.mjs"), here(blockOf("js")));
  const made = await place.run(["webhooks", "secret"]);
  const env = { ORDERS_WEBHOOK_SECRET: made.stdout.trim() };
  await using served = await serve({ place, key: KEY, env });
  const receiver = spawn(process.execPath, ["receiver.mjs"], {
    cwd: place.cwd,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...env, OPENAI_BASE_URL: `${served.url}/v1`, OPENAI_API_KEY: KEY },
  });
  let printed = "";
  receiver.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    printed += piece;
  });
  try {
    // An endpoint that is not up yet when the event comes gets it again.
    const input = "compute 12 * (3 + 4)";
    await served.create({ model: "embedded/offline", input, background: true });
    await untilTrue(() => printed.includes("\n"), "the receiver prints");
    assert.equal(printed, blockOf("text"));
  } finally {
    receiver.kill("SIGKILL");
  }
});

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
