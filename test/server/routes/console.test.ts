/** The console's page and sessions, and who is kept out of them and of runs. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import {
  CONSOLE_SCOPES,
  createConsoleSessions,
  makeConsoleCode,
} from "../../../src/server/console/console-sessions.ts";
import { CONTENT_POLICY, createShell } from "../../../src/server/console/shell.ts";
import { hasKeys } from "../../../src/server/guard/keys.ts";
import { createAdminRoutes } from "../../../src/server/routes/admin.ts";
import { createConsoleRoutes } from "../../../src/server/routes/console.ts";
import { createScriptedProvider, reply } from "../../../src/testing/index.ts";
import { type RunsBench, type RunsSetup, startRuns } from "./runs-fixture.ts";

async function start(
  t: TestContext,
  { refusal, ...setup }: Partial<RunsSetup> & { readonly refusal?: string } = {},
): Promise<RunsBench> {
  const { auth = true } = setup;
  return await startRuns(t, {
    provider: createScriptedProvider(reply.text("Yes."), reply.text("Yes.")),
    ...setup,
    more: ({ guard }) => [
      ...createConsoleRoutes({
        sessions: createConsoleSessions({ ...guard, fixedToken: () => undefined }),
        makeCode: (whose) => makeConsoleCode(guard, whose),
        refusal,
        auth,
        prefix: "",
      }),
      ...createAdminRoutes({
        ...guard,
        ...ADMIN_STATE,
      }),
    ],
  });
}

/** Answers of admin routes that this bench cannot compute. */
const ADMIN_STATE = {
  state: {
    listWorkers: async () => [],
    listLanes: async () => [],
    listStorage: async () => [],
    countKinds: async () => [],
  },
  collectMetrics: async () => [],
  named: [],
  factsOf: () => undefined,
  queues: { background: 4 },
  readSettings: () => [],
};

const post = (body: object) => ({ method: "POST", body });

describe("sessions of the console", () => {
  it("are given once for a code, within a minute", async (t) => {
    const bench = await start(t);
    const code = await makeConsoleCode(bench.guard, { scopes: CONSOLE_SCOPES });
    const answers = await Promise.all(
      [1, 2].map(() => bench.ask("/v1/console/sessions", post({ code }))),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401]);
    const { token } = answers.find(({ status }) => status === 200)?.body ?? {};
    assert.equal(
      await hasKeys(bench.guard.shelf),
      false,
      "the next server still makes a first key",
    );
    assert.equal((await bench.ask("/v1/runs", { token })).status, 200);
    assert.equal((await bench.ask("/v1/admin/keys", { token })).status, 200);
    const old = await makeConsoleCode(bench.guard, { scopes: CONSOLE_SCOPES });
    await bench.guard.clock.advance(60_001);
    assert.equal((await bench.ask("/v1/console/sessions", post({ code: old }))).status, 401);
  });

  it("expire, end, and are in the audit and the list of keys", async (t) => {
    const bench = await start(t);
    const key = await bench.key({ scopes: ["runs", "admin"] });
    const { body } = await bench.ask("/v1/console/sessions", post({ key }));
    assert.deepEqual([...body.scopes].sort(), ["admin", "runs"]);
    const { token } = body;
    assert.equal(await hasKeys(bench.guard.shelf), true);
    const keys = await bench.ask("/v1/admin/keys", { token });
    assert.ok(keys.body.data.some(({ id }: { id: string }) => id === body.id));
    assert.doesNotMatch(keys.text, /hash/);
    const ended = await bench.ask("/v1/console/session", { method: "DELETE", token });
    assert.equal(ended.status, 200, ended.text);
    await bench.guard.clock.advance(3000);
    assert.equal((await bench.ask("/v1/runs", { token })).status, 401);
    const audit = await bench.ask("/v1/admin/audit", { token: key });
    const actions = audit.body.data.map(({ action }: { action: string }) => action);
    assert.ok(
      actions.includes("console.session") && actions.includes("console.end"),
      actions.join(),
    );
    const second = await bench.ask("/v1/console/sessions", post({ key }));
    await bench.guard.clock.advance(12 * 3_600_000 + 1);
    assert.equal((await bench.ask("/v1/runs", { token: second.body.token })).status, 401);
  });

  it("end the streams that they have open when they are revoked", async (t) => {
    const bench = await start(t);
    const key = await bench.key({ scopes: ["runs", "admin"] });
    const { body } = await bench.ask("/v1/console/sessions", post({ key }));
    const { token, id } = body;
    const watching = bench.ask("/v1/watch", { token });
    await bench.ask(`/v1/admin/keys/${id}`, { method: "DELETE", token: key });
    await bench.guard.clock.advance(3000);
    const { text } = await watching;
    assert.match(text, /"runs":/, "it was open");
    assert.match(text, /"error":.*revoked/);
  });

  it("have at most the rights of the key that they were given for", async (t) => {
    const bench = await start(t);
    const plain = await bench.key({ scopes: ["responses"] });
    assert.equal((await bench.ask("/v1/console/sessions", post({ key: plain }))).status, 403);
    const bounded = await bench.key({
      scopes: ["runs", "responses"],
      limits: { usd_total: 1 },
      tenant: "acme",
    });
    const { body } = await bench.ask("/v1/console/sessions", post({ key: bounded }));
    assert.deepEqual([body.scopes, body.tenant], [["runs"], "acme"]);
    const ending = await bench.ask("/v1/console/session", { method: "DELETE", token: bounded });
    assert.equal(ending.status, 409, "a key is not ended by this");
  });

  it("are refused with the reason where the console is off", async (t) => {
    const bench = await start(t, { refusal: "No console here." });
    const code = await makeConsoleCode(bench.guard, { scopes: CONSOLE_SCOPES });
    assert.equal((await bench.ask("/v1/console/sessions", post({ code }))).status, 403);
    assert.equal((await bench.ask("/console/")).status, 403);
  });
});

describe("the page of the console", () => {
  it("is let through for a link of another page, and nothing else is", async (t) => {
    const bench = await start(t);
    const token = await bench.key();
    const link = {
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
    };
    const page = await bench.ask("/console/", { headers: link });
    assert.equal(page.status, 200);
    assert.equal(page.headers["content-security-policy"], CONTENT_POLICY);
    assert.equal(page.headers["x-content-type-options"], "nosniff");
    assert.equal(page.headers["cross-origin-opener-policy"], "same-origin");
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    const refused: [string, string, object][] = [
      ["a script that fetches it", "/console/", { ...link, "sec-fetch-mode": "cors" }],
      ["a frame", "/console/", { ...link, "sec-fetch-dest": "iframe" }],
      ["another port", "/console/", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }],
      ["an origin", "/console/", { ...link, origin: "https://evil.example" }],
      ["data by a link", "/v1/runs", link],
      ["a session by a link", "/v1/console/session", link],
      ["a rebound name", "/console/", { ...link, host: "evil.example" }],
    ];
    for (const [name, path, headers] of refused) {
      const { status } = await bench.ask(path, {
        token,
        headers: headers as Record<string, string>,
      });
      assert.equal(status, 403, name);
    }
    const posted = await bench.ask("/v1/console/sessions", {
      ...post({ code: "x" }),
      headers: link,
    });
    assert.equal(posted.status, 403, "a session is never given across sites");
  });

  it("gives its own files by their names, and the page for every other address", (t) => {
    const folder = mkdtempSync(join(tmpdir(), "offshoot-shell-"));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "index.html"), "<p>page</p>");
    writeFileSync(join(folder, "app-Ab12Cd34.js"), "1;");
    writeFileSync(join(folder, "notes.txt"), "secret");
    const shell = createShell(folder);
    const read = (path: string): string => Buffer.from(shell(path).bytes).toString();
    assert.equal(read("/console/app-Ab12Cd34.js"), "1;");
    assert.match(shell("/console/app-Ab12Cd34.js").headers["cache-control"] ?? "", /immutable/);
    for (const path of [
      "/console/",
      "/console/runs/run_1",
      "/console/..%2f..%2fpackage.json",
      "/console/../../../etc/passwd",
      "/console/notes.txt",
    ]) {
      assert.equal(read(path), "<p>page</p>", path);
    }
  });
});

describe("who may not see runs", () => {
  it("a key of another tenant, on every address, as if the run were not there", async (t) => {
    const bench = await start(t);
    const run = await bench.runtime.run({ model: "test/model", input: "Secret plan" });
    await run.result();
    const all = ["runs", "approve"] as const;
    const mine = await bench.key({ scopes: all });
    const theirs = await bench.key({ scopes: all, tenant: "other" });
    const gets = ["", "/tree", "/events", "/events/0", "/follow", `/compare?with=${run.id}`];
    for (const path of gets) {
      const own = await bench.ask(`/v1/runs/${run.id}${path}`, { token: mine });
      const foreign = await bench.ask(`/v1/runs/${run.id}${path}`, { token: theirs });
      const nobody = await bench.ask(`/v1/runs/run_none${path.replace(run.id, "run_none")}`, {
        token: theirs,
      });
      assert.equal(own.status, 200, path);
      assert.deepEqual([foreign.status, nobody.status], [404, 404], path);
      assert.equal(foreign.text.replaceAll(run.id, "run_none"), nobody.text, path);
      assert.doesNotMatch(foreign.text, /Secret/);
    }
    const body = { text: "x", question: "tool:1.0", answer: "yes" };
    for (const action of ["cancel", "steer", "resume", "replay", "fork", "answer"]) {
      const asked = { ...post(body), token: theirs };
      const { status, text } = await bench.ask(`/v1/runs/${run.id}/${action}`, asked);
      assert.equal(status, 404, `${action} ${text}`);
    }
    for (const list of [
      "/v1/runs",
      "/v1/approvals",
      "/v1/usage",
      "/v1/usage/tools",
      "/v1/sessions",
    ]) {
      const { body: listed } = await bench.ask(list, { token: theirs });
      assert.deepEqual(listed.data, [], list);
      const asked = await bench.ask(`${list}?tenant=default`, { token: theirs });
      assert.equal(asked.status, 403, list);
    }
    const admin = await bench.key({ scopes: ["runs", "admin"], tenant: "other" });
    assert.equal((await bench.ask("/v1/runs", { token: admin })).body.data.length, 1);
  });

  it("a key without the scope", async (t) => {
    const bench = await start(t);
    const run = await bench.runtime.run({ model: "test/model", input: "Begin" });
    await run.result();
    const cases: [
      readonly ("runs" | "approve" | "responses" | "admin")[],
      string,
      object | undefined,
      number,
    ][] = [
      [["responses"], "/v1/runs", undefined, 403],
      [["responses"], `/v1/runs/${run.id}/events`, undefined, 403],
      [["approve"], "/v1/runs", undefined, 403],
      [["runs"], `/v1/runs/${run.id}/answer`, { question: "q", answer: "yes" }, 403],
      [["runs", "approve"], `/v1/runs/${run.id}/answer`, { question: "q", answer: "yes" }, 409],
      [["runs", "approve"], "/v1/admin/keys", undefined, 403],
      [["runs", "approve"], "/v1/admin/keys", { name: "mine", scopes: ["admin"] }, 403],
      [["runs"], "/v1/admin/audit", undefined, 403],
      [["admin"], "/v1/runs", undefined, 403],
    ];
    for (const [scopes, path, body, expected] of cases) {
      const token = await bench.key({ scopes });
      const { status } = await bench.ask(path, { token, ...(body ? post(body) : {}) });
      assert.equal(status, expected, `${scopes} ${path}`);
    }
    assert.equal((await bench.ask("/v1/runs")).status, 401);
  });

  it("changes without a key on a server that asks for none", async (t) => {
    const bench = await start(t, { auth: false });
    const run = await bench.runtime.run({ model: "test/model", input: "Begin" });
    await run.result();
    assert.equal((await bench.ask(`/v1/runs/${run.id}`)).status, 200);
    const session = await bench.ask("/v1/console/sessions", post({}));
    assert.equal(session.body.token, null);
    for (const action of ["cancel", "steer", "resume", "replay", "fork", "answer"]) {
      const { status } = await bench.ask(`/v1/runs/${run.id}/${action}`, post({ text: "x" }));
      assert.equal(status, 403, action);
    }
    for (const path of ["keys", "tenants", "audit", "system"]) {
      assert.equal((await bench.ask(`/v1/admin/${path}`)).status, 403, path);
    }
    assert.equal((await bench.ask("/v1/console/codes", post({}))).status, 403);
  });
});
