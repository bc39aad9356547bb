/** The usage of keys, counted over three workers. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { createPlace, type Place } from "./command.ts";
import { serve } from "./served.ts";

const REQUESTS = 30;
const BUDGET = 4000;

interface Listed {
  readonly name: string;
  readonly used: { readonly total: { readonly requests: number; readonly tokens: number } };
}

async function makeKey(place: Place, name: string, flags: readonly string[]): Promise<string> {
  const made = await place.run(["keys", "create", name, ...flags]);
  assert.equal(made.code, 0, made.stderr);
  return made.stdout.trim();
}

/** Sends requests in parallel, and returns the tokens of those that were answered. */
async function askAll(url: string, token: string): Promise<number[]> {
  // A connection for each, so that they go to all workers in turn.
  const headers = { authorization: `Bearer ${token}`, connection: "close" };
  const sent = Array.from({ length: REQUESTS }, async (_, at) => {
    const body = JSON.stringify({ input: `what can you do? ${at}`, store: at % 2 === 0 });
    const answer = await fetch(`${url}/v1/responses`, { method: "POST", headers, body });
    const text = await answer.text();
    assert.ok(answer.status === 200 || answer.status === 429, text);
    if (answer.status !== 200) return [];
    return [(JSON.parse(text) as EmittedResponse).usage?.total_tokens ?? 0];
  });
  return (await Promise.all(sent)).flat();
}

function sum(tokens: readonly number[]): number {
  return tokens.reduce((all, one) => all + one, 0);
}

describe("three workers", { skip: process.platform !== "linux" }, () => {
  it("charge the usage of a key's responses once, and enforce its budget together", async () => {
    await using place = await createPlace();
    const free = await makeKey(place, "free", []);
    const limited = await makeKey(place, "limited", ["--tokens-per-day", String(BUDGET)]);
    const served = await serve({ place, args: ["--workers", "3"], key: "another" });
    const [freeTokens, limitedTokens] = await Promise.all([
      askAll(served.url, free),
      askAll(served.url, limited),
    ]);
    // Counts are written at the latest when a worker ends.
    served.command.child.kill("SIGTERM");
    await served.command.ended;
    const { stdout } = await place.run(["keys", "list", "--json"]);
    const listed = new Map((JSON.parse(stdout) as Listed[]).map((key) => [key.name, key.used]));
    assert.equal(freeTokens.length, REQUESTS);
    assert.equal(listed.get("free")?.total.requests, REQUESTS);
    assert.equal(listed.get("free")?.total.tokens, sum(freeTokens));
    const used = listed.get("limited")?.total.tokens ?? Number.NaN;
    assert.equal(used, sum(limitedTokens));
    assert.ok(used > 0 && used <= BUDGET, `${used} tokens`);
  });
});
