/**
 * A team whose server stops in the middle: another one continues, nothing is said twice and nothing is lost.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import type { OpenedResponses } from "../../src/responses/api/open-responses.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { reply, startChatUpstream } from "../../src/testing/index.ts";
import { ANYBODY } from "./server-fixture.ts";
import { lastWords, play, spawn, team, told, wait } from "./team-fixture.ts";

/** The words of the first agent depend only on its input, so that it may be asked again. */
function createTeamScript() {
  return play([], {
    "/root/a": reply.text("Of a."),
    "/root/b": reply.text("Of b."),
    "/root": ({ items }) => {
      const calls = items.filter(({ type }) => type === "function_call").length;
      if (calls === 0) return reply.calls([spawn("a", "Weigh a."), spawn("b", "Weigh b.")]);
      if (calls === 2) return wait({ targets: ["a", "b"] });
      const messages = items.filter((item) => /^Message/.test(lastWords({ items: [item] })));
      return reply.text(`Heard ${messages.length}.`);
    },
  });
}

async function follow(
  { api }: OpenedResponses,
  id: string,
  until: (events: readonly EmittedEvent[]) => boolean,
): Promise<EmittedEvent[]> {
  const events: EmittedEvent[] = [];
  for await (const batch of await api.follow(id, ANYBODY, { after: -1 })) {
    events.push(...batch);
    if (until(events)) break;
  }
  return events;
}

describe("a team whose server stops", () => {
  // Interrupted after this event: in the spawning, in the agents' words, in the wait, in the end.
  for (const cut of [3, 8, 12, 20, 25]) {
    it(`continues where it was, interrupted after event ${cut}`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), "offshoot-team-"));
      t.after(() => rmSync(folder, { recursive: true }));
      const { script, requests } = createTeamScript();
      const upstream = await startChatUpstream({ engine: script });
      t.after(() => upstream.close());
      const { url } = upstream;
      const open = async () => {
        const runtime = await createRuntime({ storePath: join(folder, "runs.db"), env: {} });
        const responses = await runtime.openResponses({
          models: {
            named: [],
            usual: { model: "custom/x", provider: "openai-chat", url, api_key_name: null },
          },
          store: true,
          ttlMs: null,
          root: folder,
          maxBackground: 4,
          sealKey: new Uint8Array(32),
        });
        return { runtime, responses };
      };
      const first = await open();
      const { api } = first.responses;
      const { id } = await api.create({ input: "Weigh.", background: true, ...team }, ANYBODY);
      const before = await follow(first.responses, id, (events) => events.length >= cut);
      await first.runtime.close();

      const second = await open();
      t.after(() => second.runtime.close());
      await second.responses.start();
      await second.runtime.engine.result(toRunId(id));
      const after = await follow(second.responses, id, () => false);
      const { length } = before;
      assert.deepEqual(after.slice(0, length), before);
      assert.deepEqual(
        after.map((event) => event.sequence_number),
        after.map((_, at) => at),
      );
      const last = after.at(-1) as { type: string; response: EmittedResponse };
      assert.equal(last.type, "response.completed");
      assert.equal(last.response.output_text.replace(/^.*?(?=Heard 2\.$)/s, ""), "Heard 2.");
      const whole = last.response.output.filter((item) => !isCut(item));
      const count = (line: string): number =>
        told({ output: whole }).filter((one) => one === line).length;
      for (const line of ["/root/a message", "/root/b message", "/root message"]) {
        assert.equal(count(line), 1, `${line}\n${told(last.response).join("\n")}`);
      }
      assert.equal(count("/root agent_message"), 2);
      assert.ok(requests.length <= 5 + 3, `${requests.length} requests`);
    });
  }
});

const isCut = (item: object): boolean => "status" in item && item.status === "incomplete";
