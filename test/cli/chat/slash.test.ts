import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readSlash } from "../../../src/cli/chat/slash.ts";

describe("an unknown command of a chat", () => {
  const cases: readonly [typed: string, said: string][] = [
    ["/undo", "Unknown command /undo. Did you mean /rewind?"],
    ["/clear", "Unknown command /clear. Did you mean /new?"],
    ["/rewnd 2", "Unknown command /rewnd. Did you mean /rewind?"],
    ["/somethingelse", "Unknown command /somethingelse. /help lists the commands."],
  ];
  for (const [typed, said] of cases) {
    it(`is answered with what may be meant: ${typed}`, () => {
      assert.equal(readSlash(typed), said);
    });
  }
});
