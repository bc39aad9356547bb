/** The attacks again, as a model makes them: through the gate. Each leaves a decision that refuses it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shellTool } from "../../src/tools/commands/shell.ts";
import { terminalTool } from "../../src/tools/commands/terminal.ts";
import type { Decision } from "../../src/tools/gate/call.ts";
import { parseRule } from "../../src/tools/gate/rules.ts";
import { createFetchTool } from "../../src/tools/web/fetch.ts";
import { openWorkspace } from "../../src/tools/workspace/open-workspace.ts";
import { startWeb } from "../tools/web/web-servers.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";
import { ADDRESS_ROWS } from "./address-rows.ts";
import { HIDDEN_COMMANDS } from "./command-rows.ts";
import { PATH_ROWS } from "./path-rows.ts";
import { MARKER, makeSurroundings } from "./path-world.ts";

function assertDenied(decisions: readonly Decision[], by: readonly string[]): void {
  const last = decisions.at(-1);
  assert.equal(last?.verdict, "deny");
  assert.ok(by.includes(last.by), `${last.by}: ${last.reason}`);
  assert.notEqual(last.reason, "");
}

describe("a path that leads out is recorded as refused", () => {
  for (const row of PATH_ROWS.filter(({ outcome }) => outcome === "forbidden")) {
    it(`${row.tool.spec.name}, ${row.name}`, async () => {
      using folder = createWorkspaceFolder();
      const { root } = folder;
      makeSurroundings(root);
      row.setUp?.(root);
      let swap = row.swap;
      const checked = (): void => {
        swap?.(root);
        swap = undefined;
      };
      const boundary = { mayRead: () => true, mayWrite: () => true, hardLinks: false };
      const workspace = await openWorkspace(root, boundary, { checked });
      const input = typeof row.input === "function" ? row.input(root) : row.input;
      const { decisions, output, failed } = await folder.call(row.tool, input as object, {
        workspace,
      });
      assert.ok(failed, output);
      assert.ok(!output.includes(MARKER), output);
      assertDenied(decisions, ["guard"]);
    });
  }
});

describe("an address that must not be read is recorded as refused", () => {
  for (const row of ADDRESS_ROWS.filter(({ code = "forbidden" }) => code === "forbidden")) {
    it(`${row.attack ?? JSON.stringify(row.url)}`, async () => {
      using folder = createWorkspaceFolder();
      await using web = await startWeb({
        names: row.names ?? {},
        answer(request, response) {
          const [status, location] = row.redirects?.[request.url ?? ""] ?? [200, ""];
          response.writeHead(status, location === "" ? {} : { location }).end("A secret.");
        },
      });
      const { dial, ...parts } = web.parts;
      const tool = createFetchTool({ ...parts, ...(dial ? { dial } : {}) });
      const { decisions, output } = await folder.call(tool, { url: row.url });
      assert.ok(!output.includes("A secret."), output);
      assertDenied(decisions, ["guard"]);
    });
  }
});

describe("a command hidden in another is recorded as refused by the rule about it", () => {
  const policy = {
    approve: "auto",
    rules: [
      parseRule("deny", "command(rm *)", "the test"),
      parseRule("allow", "shell", "the test"),
      parseRule("allow", "terminal", "the test"),
    ],
  } as const;

  it("has more than thirty rows", () => assert.ok(HIDDEN_COMMANDS.length >= 30));

  for (const { name, command } of HIDDEN_COMMANDS) {
    for (const tool of [shellTool, terminalTool]) {
      it(`${tool.spec.name}: ${name}`, async () => {
        using folder = createWorkspaceFolder();
        const input = "argv" in command ? { argv: command.argv } : { command: command.shell };
        const { decisions } = await folder.call(tool, input, { policy });
        assertDenied(decisions, ["rule"]);
        assert.equal(decisions.at(-1)?.rule, "deny command(rm *)");
      });
    }
  }
});
