/** The examples that need other projects' packages: official clients with the built server, and a browser. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { runWithPage } from "../../../examples/approval.ts";
import { unless } from "../../needs.ts";
import { createWorkspaceFolder } from "../../tools/workspace-folder.ts";
import { BROWSER_LACK, openBrowser, openTab } from "../console/browser.ts";
import { type ClientBench, KEY, serveEmbedded, TIMEOUT } from "./client-fixture.ts";
import { createClientFolder } from "./client-folder.ts";

// From build/test/clients/e2e/ up to the checkout.
const EXAMPLES = fileURLToPath(new URL("../../../../examples/", import.meta.url));

describe("the examples with official clients", () => {
  let bench: ClientBench | undefined;
  before(async () => {
    bench = await serveEmbedded();
  });
  after(() => bench?.[Symbol.asyncDispose]());

  for (const [name, prints] of [
    ["responses-client", "completed\n6*7 = 42\nYour name is Ada.\n"],
    ["messages-client", "6*7 = 42\ntool_use Oslo\nThe tool `weather` says: 7 °C, rain\n"],
  ] as const) {
    it(`${name}.mjs prints what it should`, TIMEOUT, async () => {
      const { baseURL, served } = bench ?? assert.fail();
      await using folder = await createClientFolder();
      await copyFile(join(EXAMPLES, `${name}.mjs`), join(folder.cwd, `${name}.mjs`));
      const { code, stdout, stderr } = await folder.run(`
        export OPENAI_BASE_URL=${baseURL} OPENAI_API_KEY=${KEY}
        export ANTHROPIC_BASE_URL=${served.url} ANTHROPIC_AUTH_TOKEN=${KEY}
        '${process.execPath}' ${name}.mjs`);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, prints);
    });
  }
});

describe(...unless(BROWSER_LACK)("approval.ts in a browser"), () => {
  for (const [button, isWritten] of [
    ["Allow", true],
    ["Deny", false],
  ] as const) {
    it(`does what the button ${button} says`, TIMEOUT, async () => {
      using folder = createWorkspaceFolder();
      const browser = await openBrowser();
      try {
        await using tab = await openTab(browser);
        await runWithPage(folder.root, async (url) => {
          await tab.page.goto(url);
          await tab.page.getByText("write {").waitFor();
          await tab.page.getByRole("button", { name: button }).click();
        });
        assert.equal(existsSync(join(folder.root, "hello.txt")), isWritten);
      } finally {
        await browser.close();
      }
    });
  }
});
