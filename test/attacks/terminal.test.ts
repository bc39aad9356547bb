/**
 * Sequences that control a terminal, written by a model, a tool or a server in every place that is shown.
 * None may reach the screen; output to files and pipes, and as JSON, is unchanged.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { renderQuestion } from "../../src/cli/ask-on-terminal.ts";
import { renderDenial } from "../../src/cli/denials.ts";
import { createJsonLinesOutput } from "../../src/cli/output/json-output.ts";
import { createTextOutput } from "../../src/cli/output/text-output.ts";
import { cleanForTerminal } from "../../src/cli/terminal.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { BOTH, project } from "../cli/output/screen.ts";
import {
  functionCall,
  message,
  reasoning,
  runEnd,
  runStart,
  toolRun,
  turn,
} from "../responses/logged-run.ts";

const ROWS: readonly (readonly [name: string, sequence: string])[] = [
  ["clears the screen", "\x1b[2J\x1b[H"],
  ["sets the title", "\x1b]0;root@prod\x07"],
  ["sets the title, ended by ST", "\x1b]2;root@prod\x1b\\"],
  ["writes the clipboard", "\x1b]52;c;cm0gLXJmIC8=\x07"],
  ["asks the clipboard", "\x1b]52;c;?\x07"],
  ["draws a link with another target", "\x1b]8;;http://evil.example\x07bank.example\x1b]8;;\x07"],
  ["reports the title as typed input", "\x1b[21t"],
  ["asks for the cursor, which types", "\x1b[6n"],
  ["asks what it is, which types", "\x1b[c"],
  ["device control: asks a setting, which types", "\x1bP$qm\x1b\\"],
  ["device control: defines a key", "\x1bP0;1|17/6c73\x1b\\"],
  ["application command", "\x1b_Ga=T,f=100;AAAA\x1b\\"],
  ["privacy message", "\x1b^hidden\x1b\\"],
  ["start of string", "\x1bXhidden\x1b\\"],
  ["C1 control sequence introducer", "\x9b2J"],
  ["C1 operating system command", "\x9d0;title\x9c"],
  ["C1 device control", "\x90q\x9c"],
  ["carriage return over the line", "harmless\rrm -rf /"],
  ["backspaces over what was said", "no\b\byes"],
  ["moves the cursor up into the question", "\x1b[5A\x1b[K"],
  ["switches to the alternate screen", "\x1b[?1049h"],
  ["resets the terminal", "\x1bc"],
  ["switches the character set", "\x1b(0lqqk\x0e"],
  ["rings the bell", "\x07\x07\x07"],
  ["turns the direction of text", "\u202etxt.exe\u202c"],
  ["isolates a direction", "\u2067evil\u2069"],
  ["a sequence that never ends", "\x1b]0;no end"],
  ["a NUL and a DEL", "a\x00b\x7fc"],
  ["turns paste brackets off", "\x1b[?2004l"],
  ["saves and restores over other text", "\x1b7\x1b[1;1Hfake\x1b8"],
];

/** All sequences of our own dimming. */
const withoutDimming = (text: string): string =>
  text.replaceAll("\x1b[2m", "").replaceAll("\x1b[22m", "");
const HARMFUL = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** The sequence in every place that shows text of others. */
function everywhere(sequence: string): readonly RunEvent[] {
  const call = { call_id: "call_1", name: `read${sequence}` };
  const half = Math.ceil(sequence.length / 2);
  const decision = {
    verdict: "deny",
    by: "guard",
    rule: `deny x${sequence}`,
    source: null,
  } as const;
  return [
    runStart(),
    ...turn(
      1,
      ...reasoning(0, sequence),
      ...message(1, sequence, sequence.slice(0, half), sequence.slice(half)),
      ...functionCall(2, call, sequence),
    ),
    ...toolRun(call, `Error: ${sequence}`, { arguments: sequence, failed: true }),
    { type: "tool_decision", ...call, ...decision, reason: sequence, sandbox: "none", at_ms: 1 },
    { type: "notice", code: "retry", message: sequence },
    runEnd({ message: sequence }),
  ];
}

describe("a sequence that controls a terminal", () => {
  it("has more than twenty forms here", () => assert.ok(ROWS.length >= 20));

  for (const [name, sequence] of ROWS) {
    it(`${name}: does not reach the screen`, async () => {
      const { stdout, stderr } = await project(createTextOutput, everywhere(sequence), {
        terminals: BOTH,
      });
      assert.doesNotMatch(withoutDimming(stdout), HARMFUL);
      assert.doesNotMatch(withoutDimming(stderr), HARMFUL);
    });

    it(`${name}: draws nothing into a question`, () => {
      const shown = renderQuestion({
        child: { label: sequence, agent: null, path: "/root/a-1.0", depth: 1, task: sequence },
        tool: `shell${sequence}`,
        arguments: JSON.stringify({ command: sequence, [sequence]: 1 }),
        reason: sequence,
        sandbox: "process",
        always: [`shell(${sequence} *)`],
      });
      assert.doesNotMatch(shown, HARMFUL);
      const own = /^(?:|Tool Call: .*| {2}.*)$/;
      assert.ok(
        shown.split("\n").every((line) => own.test(line)),
        shown,
      );
    });

    it(`${name}: is unchanged as JSON`, async () => {
      const { stdout } = await project(createJsonLinesOutput, everywhere(sequence), {
        terminals: BOTH,
      });
      const texts = stdout.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : []));
      assert.ok(JSON.stringify(texts).includes(JSON.stringify(sequence).slice(1, -1)));
    });
  }

  it("is removed from the output of `runs why-denied`", () => {
    for (const [, sequence] of ROWS) {
      const [event] = everywhere(sequence).filter((one) => one.type === "tool_decision");
      assert.ok(event);
      const shown = cleanForTerminal(
        renderDenial({ ...event, arguments: sequence, path: "/root" }),
      );
      assert.doesNotMatch(shown, HARMFUL);
    }
  });
});
