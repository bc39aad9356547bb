/** A question of a run on one machine, answered from others: they share only a Postgres. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { OpenQuestion } from "../../src/runtime/approvals.ts";
import { reply, script } from "../../src/testing/index.ts";
import { until } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace } from "./command.ts";
import { serve } from "./served.ts";
import { CHAT, runAt } from "./wires.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

interface Answering {
  readonly env: Readonly<Record<string, string>>;
  readonly question: OpenQuestion;
}

const ANSWERS: Readonly<Record<string, (asked: Answering) => Promise<void>>> = {
  "by the command of another machine": async ({ env, question: { run_id, question } }) => {
    await using place = await createPlace();
    const answered = await place.run(["runs", "approve", run_id, question], { env });
    assert.equal(answered.code, 0, answered.stderr);
  },
  "by a server": async ({ env, question: { run_id, question } }) => {
    const args = ["-m", "embedded/offline"];
    await using served = await serve({ env, args, key: "a-key-of-the-environment" });
    const listed = await served.ask("GET", "/v1/approvals");
    assert.ok(JSON.stringify(listed.body).includes(run_id), JSON.stringify(listed));
    const body = { question, answer: "yes" };
    const answered = await served.ask("POST", `/v1/runs/${run_id}/answer`, body);
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
  },
};

const held = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

describe(`a question on Postgres${held}`, { skip: POSTGRES_LACK !== undefined }, () => {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    it(`is answered ${name}`, async () => {
      const env = { OFFSHOOT_STORE: (await server?.newAddress()) ?? "" };
      await using place = await createPlace();
      const call = { name: "write", arguments: '{"path":"a.txt","content":"hello"}' };
      const engine = script(reply.calls([call]), reply.text("Done."));
      await using upstream = await CHAT.start({ engine });
      const words = runAt(upstream, CHAT, "--approval-wait", "600", "write it");
      const command = place.start(words, { env });
      await using elsewhere = await createPlace();
      const question = await until(async () => {
        const { stdout } = await elsewhere.run(["runs", "waiting", "--json"], { env });
        return (JSON.parse(stdout || "[]") as OpenQuestion[])[0];
      }, "a question");
      assert.ok(!existsSync(join(place.cwd, "a.txt")));
      await answer({ env, question });
      const ended = await command.ended;
      assert.equal(ended.code, 0, ended.stderr);
      assert.ok(existsSync(join(place.cwd, "a.txt")));
    });
  }
});
