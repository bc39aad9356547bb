/** `docs/delegation.md`: the reference of subagents, with texts, lines and frames made by the code itself. */

import { NOTHING } from "../../src/agent/limits.ts";
import { toFailure } from "../../src/base/failure.ts";
import type { Json } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { createRedact } from "../../src/base/redact.ts";
import { createFrameWriter } from "../../src/cli/output/sse-output.ts";
import { toAgentTemplate } from "../../src/delegation/agents/agent-template.ts";
import type { ChildReport } from "../../src/delegation/child.ts";
import { toEnvelope, toErrorEnvelope, toOpenEnvelope } from "../../src/delegation/envelope.ts";
import { PAYLOAD_FIELDS, WHOLE_PAYLOAD } from "../../src/delegation/runner/payload-fields.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import { SIGNED_FIELDS } from "../../src/delegation/signed-grant.ts";
import type { SubagentEvent } from "../../src/delegation/subagent-events.ts";
import { createSubagentLog } from "../../src/delegation/telemetry/subagent-log.ts";
import {
  ASK_PARENT_SPEC,
  CALL_SUBAGENT_SPEC,
  SUBAGENT_SPEC,
  SUBAGENTS_SPEC,
  toParallelSpec,
} from "../../src/delegation/tools/specs.ts";
import { readWish } from "../../src/delegation/tools/subagent.ts";
import { MAX_WAIT_MS, WAIT_MS } from "../../src/delegation/waiting.ts";
import { ENDINGS, type Ending, type RunEvent } from "../../src/protocol/run-events.ts";
import type { FunctionTool } from "../../src/protocol/tools.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";
import { CONFIG_NAMES, rowOf } from "../../src/runtime/config/config-keys.ts";
import { renderCompared, renderFence, renderPage, renderTable } from "./page.ts";
import { treeBlocks } from "./tree-blocks.ts";

export function renderDelegationPage(): string {
  return renderPage("Delegation", [
    "After this page you can let a run hand tasks to subagents within one budget, watch them, steer them, and look at what each did and cost. A subagent is a run of its own, with its own conversation, tools, budget and record. Try it with no key:",
    renderCompared("text, json, markdown"),
    renderFence("sh", EXAMPLE, "tested by test/e2e/delegation-docs.e2e.ts"),
    renderFence("text", EXAMPLE_ANSWER),
    "`offshoot runs tree ID` then shows what each of them did, and `offshoot run --plan …` shows who may run, with what, for how much, before anything is sent.",
    ...treeBlocks(),
    ...toolBlocks(),
    ...answerBlocks(),
    ...backgroundBlocks(),
    ...boundBlocks(),
    ...agentBlocks(),
    ...runnerBlocks(),
    ...eventBlocks(),
    "## A model that fails or hangs",
    "Each model call of a subagent is sent again by itself, and only before its first word. A server's error (500) or a broken connection is tried again `max_retries` times, 6 unless you change it: for 16 seconds on average, 32 at most. A refusal that asks to wait (429) holds the call that got it. Its siblings continue, unless the answer says that the account is used up (a counter at zero), or the next call is refused as well.",
    "Offshoot gives up a silent server after `first_byte_timeout_ms` before its answer and `idle_timeout_ms` within it (both 2 minutes; longer for a server on this machine), and asks it once more. So a hanging subagent is noticed after 2 minutes and ended after 4. `agent.subagent.timeout` ends every subagent, whatever it does.",
    "## Replay",
    "`offshoot runs replay ID` runs a recorded tree again from its record: models say what they said, tools return what they returned, nothing is sent. It works for failed and cancelled trees too, and for subagents that ran in processes of their own: a replay starts no process, and how such a subagent ended is what its parent recorded. It exits with 1 and names the first event that differs. Times, ids, prices, shares and how long tasks took are not compared. `--from NODE --with prompt=TEXT` changes what one run is asked; only what depends on it is sent again. `NODE` is a name of the run or its place below the root: `parser-1.0`.",
    "## Settings",
    renderTable(["setting", "default", "meaning"], SETTINGS.map(toSettingRow)),
    "A setting of `agent.subagent` applies to subagents only: its quotas count what subagents use, and do not end a run that does not delegate. `max_cost`, `max_total_tokens`, `max_tool_calls` and `timeout` are limits of the whole run.",
  ]);
}

const EXAMPLE = `mkdir src test docs
printf 'a\\nb\\n' > src/a.txt
printf 'a\\nb\\nc\\n' > test/b.txt
printf 'a\\nb\\nc\\nd\\n' > docs/c.txt
offshoot run -m embedded "ask three subagents in parallel to count the lines of src, test and docs, then add them up"`;

const EXAMPLE_ANSWER = `3 subagents answered:
- \`src\`: The text files in \`src\` have 2 lines.
- \`test\`: The text files in \`test\` have 3 lines.
- \`docs\`: The text files in \`docs\` have 4 lines.

Total: 2 + 3 + 4 = 9`;

function toolBlocks(): string[] {
  const tools = [
    SUBAGENT_SPEC,
    toParallelSpec({ agents: [], settings: DELEGATION }),
    CALL_SUBAGENT_SPEC,
    SUBAGENTS_SPEC,
  ];
  return [
    "## The tools",
    "Every run is offered them unless `--tools` says otherwise. Several calls of one turn run at the same time.",
    renderTable(
      ["", "`subagent`", "`parallel_subagent`", "`call_subagent`"],
      [
        ["tools, when none are named", "all of its parent's", "all of its parent's", "none"],
        ["may delegate itself", "when no tools are named", "when no tools are named", "no"],
        [
          "runs in",
          "this process, or one of its own (`agent.subagent.executor`)",
          "the same",
          "a process of its own",
        ],
        ["answers with", "an envelope, as JSON", "a result for each task, as JSON", "all it said"],
      ],
    ),
    ...tools.flatMap(renderTool),
    "A tool that the parent has may be named by another of its names: `scrape_webpage` for `fetch`, `bash_read` for `read`, `grep` for `bash_ripgrep`, `glob` for `bash_find`, `terminal` for `shell`. An invalid call starts no subagent, and the parent continues:",
    renderTable(
      ["a call of `subagent` with", "is answered with the error"],
      MISTAKES.map(toMistake),
    ),
    "At `agent.subagent.max_depth` a call is answered with `Maximum subagent recursion depth (3) exceeded. Current depth: 3. Cannot spawn nested subagent.` The run that a person starts has depth 0.",
    "Without a `summary_prompt` the request for a summary is sent with the task, and the last answer is the report. With one, the subagent is asked once more when it is done, without tools. `agent.subagent.summary` changes that.",
  ];
}

function renderTool({ name, description, parameters }: FunctionTool): string[] {
  return [
    `### \`${name}\``,
    description ?? "",
    renderFence("json", JSON.stringify(parameters, null, 2)),
  ];
}

const MISTAKES: readonly (readonly [words: string, input: Json])[] = [
  ["no `label`", { task_prompt: "Look." }],
  ["an empty `task_prompt`", { label: "a", task_prompt: " " }],
  ["`max_turns: 51`", { label: "a", task_prompt: "Look.", max_turns: 51 }],
  [
    '`allowed_tools: ["subagent"]`',
    { label: "a", task_prompt: "Look.", allowed_tools: ["subagent"] },
  ],
  ['`allowed_tools: ["nobody"]`', { label: "a", task_prompt: "Look.", allowed_tools: ["nobody"] }],
  ["an unknown field", { label: "a", task_prompt: "Look.", prompt: "x" }],
];

function toMistake([words, input]: (typeof MISTAKES)[number]): string[] {
  try {
    readWish(input, { tools: [] });
    return [words, ""];
  } catch (thrown) {
    return [words, `\`\` ${toFailure(thrown).message} \`\``];
  }
}

const NAMED = { label: "review", depth: 1 };

const REPORT: ChildReport = {
  id: "run_01k…/review-1.0",
  ending: "completed",
  message: "",
  error: null,
  text: "Two functions have no test: `parse` and `render`.",
  json: undefined,
  turns: 3,
  toolCalls: 2,
  usage: { ...NO_USAGE, input_tokens: 1100, output_tokens: 150, total_tokens: 1250 },
  costUsd: 0.01,
  spent: NOTHING,
};

const PARTIAL: Partial<ChildReport> = {
  ending: "budget",
  message: "Its share of $0.02 is used up, and no more of the budget is left for it.",
};

function envelope(report: Partial<ChildReport>) {
  return toEnvelope(NAMED, { ...REPORT, ...report }, { maxBytes: 4096, observe() {} });
}

function answerBlocks(): string[] {
  const failed = toErrorEnvelope(NAMED, "max_turns must be between 1 and 50");
  return [
    "## What comes back",
    "`subagent` answers with an envelope. All values of `metadata` are texts; these six are there when it ended with success.",
    renderFence("json", JSON.stringify(envelope({}), null, 2)),
    "Partial work is a success, too. Its `metadata` has one more value: what ended it.",
    renderFence("json", JSON.stringify(envelope(PARTIAL).metadata, null, 2)),
    "A call that was refused, or a subagent that failed, has these two:",
    renderFence("json", JSON.stringify(failed, null, 2)),
    "`parallel_subagent` answers with `results`, one for each task in their order (`label`, `success`, `output`, `error`, `duration_ms`, `tokens_used`, `completion_status`, and `incomplete_reason` of partial work), and with `total_duration_ms`, `successful` and `failed`. `call_subagent` answers with the text alone, or with `Error: …`.",
    "The table says how each ending is reported. A subagent without any output counts as failed, however it ended. If it failed, `error` says why, and `output` has what it had said.",
    renderTable(
      ["ending", "`success`", "`completion_status`", "meaning"],
      (Object.keys(ENDINGS) as Ending[]).map(toEndingRow),
    ),
    "Output above `agent.subagent.output_max_size` bytes is cut between two characters and ends with `[Output truncated]`. If runs are recorded, the line before it says how to read all of it: `offshoot runs show ID`.",
  ];
}

function backgroundBlocks(): string[] {
  const id = REPORT.id;
  const seconds = (ms: number): string => `${ms / 1000} s`;
  return [
    "## Background subagents",
    "A call with `background: true` does not wait. It answers at once with the subagent's id:",
    renderFence(
      "json",
      JSON.stringify(toOpenEnvelope(NAMED, { id, question: undefined }), null, 2),
    ),
    "Its report comes by itself, as a message before the next turn of its parent (`Subagent review (ID) has ended: …` with the envelope), unless `subagents` has collected it before. When the model gives its answer while some still work, or reports are unread, the run waits for them, adds their reports, and asks the model once more. The limits of the run hold meanwhile. At its turn limit it does not wait for them. They are stopped, and a notice names them and the reports that were not read. A run that is cancelled, fails or ends otherwise stops them too: nothing that a run started outlives it.",
    renderTable(
      ["`subagents` with `action`", "does"],
      [
        [
          "`wait`",
          `waits until all that \`ids\` names have ended, without \`ids\` until one has, or until one asks: at most \`timeout_ms\` (${seconds(WAIT_MS)} when left out, ${seconds(MAX_WAIT_MS)} at most). Answers with \`ended\` (their envelopes), \`asks\` and \`running\``,
        ],
        ["`list`", "names all subagents of the run, with their states or endings"],
        ["`stop`", "ends the one that `id` names, and answers with its envelope"],
        [
          "`message`",
          "gives `text` to the one that `id` names: the answer to its question, else a message that it reads before its next turn",
        ],
      ],
    ),
    "A label works in place of an id; if several have the same label, the last one is meant.",
    "- They share the budget as all children do. One that has no budget left for its first call is refused at once; in a process of its own it waits for its place first. The parent's own calls take back what they hold beyond their share, and wait for them if that is not enough.\n- After a crash `offshoot runs resume` finds them again: those that work continue, ended ones are not run again, no report is given twice.\n- In the log a `child_end` of theirs has `background`, and a `child_news` is what their parent was told. `offshoot runs replay` gives the same reports before the same turns.\n- Tasks of `parallel_subagent`, `call_subagent` and the tools of a [server](server.md) have no `background`. Teams of the server work side by side by themselves.",
    "### Asking again",
    "`continue` names a subagent of the run that has ended. A new subagent begins with its whole recorded conversation, followed by the new `task_prompt`. Agent, instructions, model, server, key, tools, limits and form of the answer stay unless the call says otherwise. One of an agent's file never gets more tools or turns than the file allows. It counts as one more subagent.",
    "### Asking the parent",
    ...renderTool(ASK_PARENT_SPEC),
    "A subagent has this tool if it has tools at all and its parent has `subagents` to answer with. A list of tools is complete: a subagent with `allowed_tools`, or of an agent's file with `tools`, can ask only if that list names `ask_parent`. Subagents of `call_subagent` cannot ask, nor can those in processes of their own if nothing is stored (`--no-store`).",
    "It waits for the answer at most `agent.subagent.ask_timeout` seconds, which do not count as its time. A call of `subagent` or `parallel_subagent` that waits for it answers early, and the subagent continues as a background subagent:",
    renderFence(
      "json",
      JSON.stringify(toOpenEnvelope(NAMED, { id, question: "Which of the two?" }), null, 2),
    ),
    "The parent answers with `subagents` and `message`. A question of a background subagent comes as a message before the parent's next turn. If the parent ends without answering, the subagent is told so and continues. The same happens when its waiting time is over. While it waits, another subagent may use its place. After a crash it asks again, and an answer that was given before is not lost.",
  ];
}

function toEndingRow(ending: Ending): string[] {
  const { success, metadata } = envelope({ ending, message: "Why." });
  const status = metadata["completion_status"] ?? "-";
  return [`\`${ending}\``, `\`${success}\``, `\`${status}\``, ENDINGS[ending].summary];
}

function boundBlocks(): string[] {
  return [
    "## Budgets",
    "A subagent never has more than its parent: tools, paths, hosts, depth and money are narrowed on the way down. Nothing is spent that was not reserved before, so no limit is exceeded at any moment, in a run and in all above it.",
    "- The children of a turn and their parent get equal shares of the remaining budget, whichever tools started the children.\n- A child that needs more than its share gets it from the remaining budget, then from siblings that hold more than they use. If there is no such budget, it waits until a sibling ends. What a child did not use is returned when it ends.\n- A child also waits if the remaining budget does not cover its first call. So children that cannot all run at once run in waves. If no sibling can return budget, it is not started, and its report says so: `Not started: its first call may take …`.\n- The parent keeps a part for its own next call: a tenth of what was left, or twice what its last call took if that is more, and never more than half.\n- A child in a process of its own keeps what it was given until it ends.\n- At most `agent.subagent.max_parallel` children of a run work at once; the others wait.\n- `offshoot run --plan` shows the shares: what a child gets if it is the only one, and what each gets if as many as allowed start in one turn. Both numbers assume a short answer of the run's first call.",
    "## Questions",
    "A call that needs approval names the subagent that makes it: label, agent, place in the tree, depth and task. `always` is the answer for that subagent, `tree` for all runs of the tree. See [safety.md](safety.md). The question of a subagent in a process of its own comes through its parent to the same terminal, and `tree` counts in all processes of the tree. Another terminal can answer for any of them: [below](#while-it-runs).",
    ...controlBlocks(),
  ];
}

function controlBlocks(): string[] {
  return [
    "## While it runs",
    "A run, or one subagent, can be watched, steered, answered or ended from anywhere: another terminal, a program, a client of the server. It does not matter in which process it works.",
    renderFence(
      "sh",
      'offshoot runs follow last                                    # what `run` shows, here; Ctrl-C leaves it running\noffshoot runs tree last                                      # who works, and the name of each: [parser-1.0]\noffshoot runs steer last/parser-1.0 "Leave the tests out"    # it reads this before its next turn\noffshoot runs waiting                                        # who waits for approval of which call\noffshoot runs approve last/parser-1.0 tool:3.1               # the call runs; `runs deny` refuses it\noffshoot runs cancel last/parser-1.0                         # it ends; its parent continues and reads that it was cancelled',
      "tested by test/e2e/docs-at-work.e2e.ts",
    ),
    renderTable(["from", "watch", "steer", "answer", "stop"], CONTROL),
    "- **Steering.** A message becomes a user's message of the conversation, before the next turn. Several are read together, in order, each once, even after a crash. One that comes while the last answer is written makes the run continue, as long as it has turns left; one that comes even later is reported in the log (`came too late`). The record has what was said (`run_input`): `runs show`, `export`, `replay` and a second turn know it. A message for an interrupted run waits until the run is resumed.\n- **Answering.** A call that waits for approval is in the log (`tool_question`) until its `tool_decision`. `runs tree`, `runs follow` and the live tree show it: `waits for approval: shell rm -rf build`. The first answer counts, from its own terminal or from elsewhere; later ones are told that they are too late. See [safety.md](safety.md#answering-from-another-terminal).\n- **Stopping.** A subagent ends as `cancelled`, with everything below it. Its parent's call returns: `success` is false, `error` says that it was cancelled, `output` has what it had written. The budget that it did not spend returns to its parent.\n- **Limits.** A run with `--no-store` is in no record. Only the program that started it can send it messages; its subagents in processes of their own get none. A subagent that still waits for a place or for its share has no run yet.",
  ];
}

/** One row for each sender that may tell a run something. */
const CONTROL = [
  [
    "a terminal",
    "`offshoot runs follow ID`",
    "`offshoot runs steer ID MESSAGE`",
    "`offshoot runs approve ID CALL`, `offshoot runs deny ID CALL REASON`",
    "`offshoot runs cancel ID`",
  ],
  [
    "a program",
    "`await runtime.attach(id)`",
    "`runtime.steer(id, text)`, `run.steer(text)`",
    "`run.questions()`, `run.approve({ call })`, `run.deny({ call, reason })`",
    "`runtime.cancel(id)`, `run.cancel()`",
  ],
  [
    "a client of the [server](server.md#while-a-response-runs)",
    "`GET /v1/responses/:id?stream=true`",
    "`POST /v1/responses/:id/steer`",
    "a server does not ask",
    "`POST /v1/responses/:id/cancel`",
  ],
];

function agentBlocks(): string[] {
  return [
    "## Agents as files",
    "An agent is a file in `~/.config/offshoot/agents/` or in a project's `.offshoot/agents/` (used only after you trust it). A call names it with `agent`. The call may ask for less than the file says, never for more. `offshoot agents new reviewer` writes:",
    renderFence("markdown", toAgentTemplate("reviewer")),
    "The description must be written before the agent can be used. `offshoot agents check` names what is wrong with an agent, and whether a run here can call it: its tools must be among the run's.",
    "`url`, `provider` and `api_key_name` say where the model is asked. They need `model`, which says whose key is sent: a server gets the key that the file names, or that of its own model's vendor, never the parent's. A project's file that is not trusted is not used at all.",
    '`offshoot run --agent reviewer "Review the last commit"` runs the file as the main agent: its instructions, model, address, tools, budget, options and schema. Flags win over the file, the file over the settings; of two limits the smaller one applies, unless a flag says otherwise.',
  ];
}

function runnerBlocks(): string[] {
  const rows = Object.entries(PAYLOAD_FIELDS).map(([name, meaning], at) => [
    `\`${name}\``,
    at < WHOLE_PAYLOAD ? "yes" : "",
    meaning,
  ]);
  return [
    "## The runner",
    "`offshoot subagent` reads one JSON document from standard input and writes SSE to standard output, and nothing else there. Any program may start it. The first ten fields are a complete document. A field with null counts as missing, and an unknown field is ignored.",
    renderFence("sh", `echo '{"model": "embedded", "prompt": "compute 6*7"}' | offshoot subagent`),
    renderTable(["field", "of the ten", "meaning"], rows),
    `\`grant\` and what counts with it are for a parent process of Offshoot. With a \`grant\` these are signed: ${SIGNED_FIELDS.map((name) => `\`${name}\``).join(", ")}. A payload with another value of one of them, without a signature, or after \`expires_at_ms\` is refused with exit code 2, and nothing is started. What is asked (\`prompt\`) is not signed.`,
    "The stream is that of `offshoot run --sse`: `response_start`, `output_text`, `reasoning_content`, `tool_call`, `tool_result`, `block_end` after each turn, `output_structured` in place of the text if JSON was asked for, and `response_end`. The frames of a call carry its id; the first has its `name` and no text; calls come one after the other.",
    renderFence("text", renderFrames()),
    "A run that did not complete ends with a `block_end` whose text begins with `Error:`, without `response_end`, and the exit code is not 0. A tool that cannot do its work (a program that exits with 1, a host that does not answer) ends it so; arguments that do not fit, a tool that is not there, a refused call and a subagent that failed are reported to the model, and the run continues.",
  ];
}

const CALL = { call_id: "call_1", name: "read" };
const ITEM = { type: "function_call", ...CALL, arguments: "" } as const;
const OUTPUT = { type: "function_call_output", call_id: "call_1", output: "one" } as const;

const STREAM: readonly RunEvent[] = [
  { type: "start", response_id: "resp_1", model: "m" },
  { type: "item_start", index: 0, item: ITEM },
  { type: "arguments_delta", index: 0, delta: '{"path":"a.txt"}' },
  { type: "item_end", index: 0, item: { ...ITEM, arguments: '{"path":"a.txt"}' } },
  { type: "turn_end", turn: 1, reason: "tool_calls", usage: NO_USAGE, cost_usd: 0, at_ms: 0 },
  { type: "tool_end", ...CALL, item: OUTPUT, failed: false, at_ms: 0 },
  { type: "start", response_id: "resp_2", model: "m" },
  { type: "text_delta", index: 0, part: 0, delta: "It says one." },
  { type: "turn_end", turn: 2, reason: "stop", usage: NO_USAGE, cost_usd: 0, at_ms: 0 },
];

function renderFrames(): string {
  const write = createFrameWriter({ brief: false, isStructured: false });
  return STREAM.map(write).join("");
}

const EVENTS: readonly SubagentEvent[] = [
  { event: "spawn", ...NAMED, max_turns: 8, allowed_tools: ["read"] },
  { event: "complete", ...NAMED, turns_used: 3, tokens_consumed: 1250, status: "complete" },
  { event: "error", ...NAMED, error: "The key was refused." },
  { event: "max_turns_exceeded", ...NAMED, max_turns: 8 },
  { event: "truncation", label: "review", original_size: 8192, truncated_size: 4096 },
  { event: "depth_limit", label: "review", current_depth: 3, max_depth: 3 },
];

function eventBlocks(): string[] {
  const lines: string[] = [];
  const clock = { now: () => 0, sleep: async () => {} };
  const write = (line: string): number => lines.push(line);
  const log = createLog("subagent", { setting: "info", clock, redact: createRedact([]), write });
  const tell = createSubagentLog(log, { telemetryEnabled: true });
  for (const event of EVENTS) tell(event);
  return [
    "## Events",
    "Six things may happen to a subagent. `offshoot runs events ID` lists them from the record, `--json` for a program. While it happens, `OFFSHOOT_LOG=info` (or `OFFSHOOT_LOG=subagent=info` for these alone) writes the same lines to standard error, and OpenTelemetry gets them as events of spans, unless `agent.subagent.telemetry_enabled` is false.",
    renderFence("text", lines.map((line) => line.replace(/^\S+ /, "")).join("")),
    "The record is the one place that commands read: everything a subagent was asked, said and did is in `runs.db`, and `offshoot runs show`, `tree`, `events` and `export` show it. `agent.subagent.persistence_enabled` writes a copy of each conversation for other programs, as `conversations/RUN/SUBAGENT.json` in the data folder; no command reads it, and deleting a run leaves it there.",
  ];
}

const SETTINGS = CONFIG_NAMES.filter(
  (name) =>
    name.startsWith("agent.subagent.") ||
    ["max_cost", "max_total_tokens", "max_tool_calls", "timeout", "plan_threshold_usd"].includes(
      name,
    ),
);

function toSettingRow(name: (typeof CONFIG_NAMES)[number]): string[] {
  const row = rowOf(name);
  const usual = row.default === undefined ? "" : `\`${row.default}\``;
  return [`\`${name}\``, usual, row.summary];
}
