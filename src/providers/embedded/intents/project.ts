/** Intents about the current project: its git repository and its tests. They need `shell`. */

import { isJsonObject, tryParseJson } from "../../../base/json.ts";
import type { EmbeddedConversation } from "../conversation.ts";
import { numberIn, parseRead } from "../tool-results.ts";
import { callTool, chooseTool, type PlanStep } from "./file-steps.ts";
import { defineIntent, type Intent, type IntentAnswer } from "./intent.ts";
import { PLAIN_COMMAND, runInShell } from "./running.ts";

/** The command that answers each question, by the slot for that question. */
const QUESTIONS = {
  state: "git status --short --branch",
  branch: "git branch --show-current",
  last: "git log -1",
  history: "git log --oneline -n 20",
  diff: "git diff",
} as const;

const askGit = defineIntent<"git" | "words" | keyof typeof QUESTIONS>({
  name: "ask-git",
  summary: "show what git knows",
  tools: ["shell"],
  acts: true,
  hints: /\b(git|commits?|changed|changes|branch|history|diff)\b/i,
  phrasings: [
    "git status",
    "what is the last commit?",
    "what has changed?",
    "which branch am I on?",
    "show me the git log",
    "git diff --stat",
    "what is the git status of this repo?",
  ],
  templates: [
    "git {git} [{words=text}]",
    "[(show [me]|what is|what's|tell me|give me)] [the] git {state=git_status} [(here|of this (repo|repository|project))]",
    "(what|which files) {state=git_changed} [here] [(since the last commit|in this (repo|repository|project))]",
    "(show|list) [me] [(the|my|all)] [(uncommitted|unstaged|local)] {state=git_changes}",
    "(what|which) [git] {branch=git_branch} (am i on|is this|are we on|is checked out)",
    "[(show [me]|what is|what's|what was|who made|tell me about)] [the] {last=git_last} [(here|in this (repo|repository|project))]",
    "(show|list) [me] [the] [(recent|last|latest)] ({history=git_history}|[git] {history=git_commits})",
    "(show|print) [me] [the] [git] {diff=git_diff}",
  ],
  accept: ({ words }) => words === undefined || PLAIN_COMMAND.test(words),
  *plan({ git, words, ...asked }, conversation) {
    const typed = git && ["git", git, ...(words === undefined ? [] : [words])].join(" ");
    const [command] = Object.entries(QUESTIONS).flatMap(([slot, one]) =>
      slot in asked ? one : [],
    );
    const told = yield* runInShell(typed ?? command ?? QUESTIONS.state, conversation);
    const code = numberIn(told.data ?? {}, "exit_code") ?? 0;
    return code < FATAL ? told : { ...told, declined: true };
  },
});

/** The exit code of git if it has nothing to report: outside of a repository, or for an unknown revision. */
const FATAL = 128;

/** How a project's tests are run, by a file of the project. The first match is used. */
const RUNNERS: readonly Runner[] = [
  { file: "package.json", command: "npm test", hasTests: hasTestScript },
  { file: "Cargo.toml", command: "cargo test" },
  { file: "go.mod", command: "go test ./..." },
  { file: "pyproject.toml", command: "python3 -m pytest" },
  { file: "Makefile", command: "make test", hasTests: (text) => /^test:/m.test(text) },
];

interface Runner {
  readonly file: string;
  readonly command: string;
  /** True if the file's text names tests; missing if the file alone is enough. */
  hasTests?(text: string): boolean;
}

const runTests = defineIntent<"command">({
  name: "run-tests",
  summary: "run the project's tests",
  tools: ["read", "shell"],
  acts: true,
  hints: /\b(tests?|pytest)\b/i,
  phrasings: [
    "run the tests",
    "npm test",
    "run all tests",
    "do the tests pass?",
    "run npm test",
    "run the test suite",
    "test this project",
  ],
  templates: [
    "[(run|execute)] {command=test_command}",
    "(run|execute|start) [(the|all|all the|my|our)] [unit] (tests?|test suite) [(here|of this project|in this project)]",
    "(do|are) [(the|all|all the|my|our)] [unit] tests (pass|passing|green|work|ok)",
    "test (this project|this repo|the project|everything|it)",
  ],
  *plan({ command }, conversation) {
    const found = command ?? (yield* findTestCommand(conversation));
    if (found !== undefined) return toVerdict(yield* runInShell(found, conversation));
    const files = RUNNERS.map(({ file }) => `\`${file}\``).join(", ");
    const text = `I found no tests to run here: I look for ${files}. Name the command: "run \`…\`".`;
    return { text, data: { error: text }, failed: true, declined: true };
  },
});

/**
 * Failed tests are an answer, because they were run. Tests that did not run, or not to their end, are not
 * an answer.
 */
function toVerdict(ran: IntentAnswer): IntentAnswer {
  const { exit_code: code, timed_out } = ran.data ?? {};
  if (code === undefined) return ran;
  if (code === 0) return { ...ran, text: `The tests pass. ${ran.text}` };
  const isUnfinished = timed_out === true || code === NOT_EXECUTABLE || code === NOT_FOUND;
  if (!isUnfinished) return { ...ran, text: `The tests failed. ${ran.text}` };
  return { ...ran, text: `The tests did not run to their end. ${ran.text}`, declined: true };
}

/** The exit code of a shell for a command that it cannot start. */
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

function* findTestCommand(conversation: EmbeddedConversation): PlanStep<string | undefined> {
  const tool = chooseTool(["read", "bash_read"], conversation);
  for (const { file, command, hasTests } of RUNNERS) {
    const named = tool === "read" ? { path: file } : { filepath: file };
    const read = parseRead(yield* callTool(tool, named));
    const text = read.ok ? read.lines.map((line) => line.text).join("\n") : undefined;
    if (text !== undefined && hasTests?.(text) !== false) return command;
  }
  return undefined;
}

function hasTestScript(text: string): boolean {
  const value = tryParseJson(text);
  const scripts = isJsonObject(value) ? value["scripts"] : undefined;
  return isJsonObject(scripts) && typeof scripts["test"] === "string";
}

export const PROJECT: readonly Intent[] = [askGit, runTests];
