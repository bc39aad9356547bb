/** Intents that run commands and Python. They need `shell` or `terminal`, and `python_execute`. */

import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { clip } from "../../../base/text.ts";
import type { EmbeddedConversation } from "../conversation.ts";
import { toList } from "../schema/shape.ts";
import { withoutFence } from "../slots.ts";
import { isRefusal, numberIn, parseResult, textIn } from "../tool-results.ts";
import { isOneStep } from "../wording.ts";
import {
  callTool,
  chooseTool,
  fence,
  join,
  type PlanStep,
  refusal,
  writePaths,
} from "./file-steps.ts";
import { defineIntent, type Intent, type IntentAnswer } from "./intent.ts";

const IN_SHELL = "[(in|with|using|on) (the|a) (shell|terminal|command line)]";

const runCommand = defineIntent<"command" | "block" | "words">({
  name: "run-command",
  summary: "run a command",
  tools: ["shell"],
  acts: true,
  hints: /\b(run|execute|exec|shell|terminal)\b|^\$/i,
  phrasings: [
    "run `git status`",
    "run the command git log -1",
    "execute 'npm test' in the terminal",
    "use the terminal to run `make all`",
    "$ ls -la src | head -n 3",
    "shell: echo done",
  ],
  templates: [
    `(run|execute|exec) [(the (shell|terminal|command line)|the)] [command] {command=quoted} ${IN_SHELL}`,
    `(run|execute|exec) (the (shell|terminal) command|the command) {words=text} ${IN_SHELL}`,
    `(run|execute|exec) [(this|the following)] [(command|commands|script)] ${IN_SHELL} {block}`,
    "use [(the|a)] (shell|terminal) to (run|execute) ({command=quoted}|{words=text})",
    "(shell|terminal): ({command=quoted}|{words=text})",
    "\\$ {words=text}",
  ],
  accept: ({ words = "x" }) => isOneStep(words),
  *plan({ command, block, words }, conversation) {
    const text = block === undefined ? (command ?? words ?? "") : withoutFence(block);
    return yield* runInShell(text, conversation);
  },
});

/** Runs one command and returns its output. */
export function* runInShell(
  text: string,
  conversation: EmbeddedConversation,
): PlanStep<IntentAnswer> {
  const tool = chooseTool(["shell", "terminal"], conversation);
  const output = yield* callTool(tool, toCommand(text));
  const result = parseResult(output);
  const code = result && numberIn(result, "exit_code");
  if (!result || code === undefined) return refusal(tool, output);
  const parts = ["stdout", "stderr", "error"].map((field) => textIn(result, field).trimEnd());
  const said = parts.filter((part) => part !== "").join("\n");
  const timed_out = result["timed_out"] === true || /^Timed out\b/.test(textIn(result, "error"));
  const note = textIn(result, "note") || (timed_out ? "It was stopped at its time." : "");
  const how = `\`${clip(text, 120)}\` ended with exit code ${code}`;
  const shown = said === "" ? `${how} and printed nothing.` : `${how}:\n\n${fence(said)}`;
  const data = { exit_code: code, timed_out, stdout: said, output: said, command: text };
  return { text: join([shown, note]), data, ...(code !== 0 && { failed: true }) };
}

/** Commands whose words have no special meaning for a shell, without a variable set in front. */
export const PLAIN_COMMAND = /^(?![^\s=]*=)[\w@%+=:,./-]+(?: +[\w@%+=:,./-]+)*$/;

function toCommand(text: string): { argv: string[] } | { command: string } {
  return PLAIN_COMMAND.test(text) ? { argv: text.split(/ +/) } : { command: text };
}

const CODE = "({code=quoted}|{block}|{words=text})";
const PYTHON = "(with|in|using|by) python[3]";

const runPython = defineIntent<"code" | "block" | "words">({
  name: "run-python",
  summary: "run Python code",
  tools: ["python_execute"],
  acts: true,
  hints: /\bpython/i,
  phrasings: [
    "compute with python: sum(range(101))",
    "run the python code `print(2 ** 10)`",
    "evaluate 'len(\"abc\") * 7' in python",
    "use python to compute sorted([3, 1, 2])",
    "python: import math; math.factorial(20)",
    "execute this python code: print('hello')",
  ],
  templates: [
    `(run|execute|evaluate|eval) [(this|the following|the|some)] python[3] [(code|script|program|expression)] ${CODE}`,
    `(compute|calculate|evaluate|work out|run|execute) ${PYTHON} ${CODE}`,
    `(compute|calculate|evaluate|work out|run|execute) ${CODE} ${PYTHON}`,
    `use python[3] to (compute|calculate|evaluate|work out|run|execute) ${CODE}`,
    `python[3] [code] ${CODE}`,
  ],
  accept: ({ words }) => words === undefined || looksLikeCode(words),
  *plan({ code, block, words }) {
    const source = block === undefined ? (code ?? words ?? "") : withoutFence(block);
    const output = yield* callTool("python_execute", { code: source });
    const result = parseResult(output) ?? toPrinted(output);
    if (!result || !("stdout" in result || "result" in result)) {
      return refusal("python_execute", output);
    }
    const value = textIn(result, "result");
    const printed = textIn(result, "stdout").trimEnd();
    const trouble = textIn(result, "stderr").trimEnd();
    const files = toList(result["files"])
      .filter(isJsonObject)
      .map((file) => textIn(file, "path"));
    const text = join([
      value === "" ? undefined : `The result is ${value}.`,
      printed === "" ? undefined : `It printed:\n\n${fence(printed)}`,
      trouble === "" ? undefined : `It complained:\n\n${fence(trouble)}`,
      value + printed + trouble === "" ? "It ran and gave no output." : undefined,
      files.length === 0 ? undefined : `It wrote:\n${writePaths(files)}`,
      textIn(result, "note"),
    ]);
    const data = { result: value || printed, stdout: printed, stderr: trouble, files };
    return { text, data, ...(/^Traceback\b/m.test(trouble) && { failed: true }) };
  },
});

/** The printed text, which a hosted interpreter gives without an object around it. */
function toPrinted(output: string): JsonObject | undefined {
  return isRefusal(output) || output.trim() === "" ? undefined : { stdout: output };
}

/**
 * True if the words are code only: "Python is fine" is not code; "print(1). Then read a.md" has more than
 * code.
 */
function looksLikeCode(words: string): boolean {
  const isCode = /[()[\]=*/%<>+]|\d\s*-\s*\d|^import\s/.test(words);
  return isCode && !/[.!?]\s+(?:[Tt]hen\b|\p{Lu})|\s(?:and\s+)?then\s/u.test(words);
}

export const RUNNING: readonly Intent[] = [runPython, runCommand];
