/** Large answers of two tenants: written in turn by tenant, however many each of them waits for. */

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { Writable } from "node:stream";
import { describe, it } from "node:test";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import type { RouteAnswer, StreamEvent } from "../../src/server/route.ts";
import { sendAnswer } from "../../src/server/send-answer.ts";
import { PATIENCE_MS } from "../patience.ts";

const TEXT = "Grüße ".repeat(500_000);

/** The part of a connection that an answer needs; it accepts all writes at once. */
class Connection extends Writable {
  readonly req = { method: "GET" };
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
  writeHead(): this {
    return this;
  }
}

const KINDS: Readonly<Record<string, () => RouteAnswer>> = {
  JSON: () => ({ kind: "json", body: { text: TEXT } }),
  "a stream": () => ({ kind: "events", events: tell() }),
};

async function* tell(): AsyncGenerator<readonly StreamEvent[], void> {
  yield [{ type: "response.output_text.done", text: TEXT } as unknown as EmittedEvent];
}

describe("a large answer", () => {
  for (const [kind, toAnswer] of Object.entries(KINDS)) {
    it(`is written in its tenant's turn, before older ones of another (${kind})`, async () => {
      const settings = { keepAliveMs: PATIENCE_MS, commitMs: PATIENCE_MS };
      const ended: string[] = [];
      const send = async (owner: string): Promise<void> => {
        const response = new Connection() as unknown as ServerResponse;
        await sendAnswer(response, toAnswer(), { settings, owner });
        ended.push(owner);
      };
      const many = Array.from({ length: 8 }, () => send("many"));
      await send("one");
      assert.deepEqual(ended, ["one"]);
      await Promise.all(many);
    });
  }
});
