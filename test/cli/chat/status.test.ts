import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toNotification } from "../../../src/cli/chat/notify.ts";
import { type ChatStatus, toStatusRow } from "../../../src/cli/chat/status-row.ts";
import { textOf } from "../../../src/cli/screen/rows.ts";

const STATUS: ChatStatus = {
  model: "vendor/model",
  isThinking: true,
  contextUsed: 24_000,
  contextTokens: 200_000,
  spent: { tokens: 30_000, knownUsd: 0.25, unknownCalls: 0 },
  maxUsd: 2,
  hint: "Esc stops",
  note: "",
};

describe("the last row of a chat", () => {
  for (const [name, status, columns, row] of [
    [
      "model, context used, cost, budget and keys",
      STATUS,
      100,
      "vendor/model (thinks) · context 12% of 200.0k · $0.25 · limit $2/run · Esc stops",
    ],
    ["what matters most where it is narrow", STATUS, 40, "vendor/model (thinks)"],
    [
      "what the last key did, before all",
      { ...STATUS, note: "Ctrl-C again leaves" },
      40,
      "Ctrl-C again leaves",
    ],
    [
      "no window and no price that is not known",
      {
        ...STATUS,
        contextTokens: undefined,
        maxUsd: undefined,
        spent: { tokens: 30_000, knownUsd: 0, unknownCalls: 2 },
      },
      100,
      "vendor/model (thinks) · context 24.0k · cost unknown · Esc stops",
    ],
    [
      "that no model is chosen yet",
      {
        ...STATUS,
        model: undefined,
        isThinking: false,
        contextUsed: 0,
        spent: { tokens: 0, knownUsd: 0, unknownCalls: 0 },
        maxUsd: undefined,
        hint: "",
      },
      100,
      "choosing a model",
    ],
  ] as const) {
    it(`has ${name}`, () => {
      assert.equal(textOf(toStatusRow(status, columns)), row);
    });
  }
});

describe("a notification", () => {
  for (const [terminal, env, bytes] of [
    ["an unknown one", {}, "\x07"],
    ["tmux", { TMUX: "x", TERM_PROGRAM: "iTerm.app" }, "\x07"],
    ["GNU screen", { TERM: "screen-256color", WT_SESSION: "x" }, "\x07"],
    ["iTerm2", { TERM_PROGRAM: "iTerm.app" }, "\x1b]9;It, waits\x07"],
    ["kitty", { KITTY_WINDOW_ID: "1" }, "\x1b]9;It, waits\x07"],
    ["foot", { TERM: "foot" }, "\x1b]777;notify;offshoot;It, waits\x1b\\\x07"],
  ] as const) {
    it(`is the one that the terminal knows: ${terminal}`, () => {
      assert.equal(toNotification("It; \x1b[31mwaits", env), bytes);
    });
  }
});
