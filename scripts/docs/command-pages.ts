/** The pages about the command line, its settings and its errors. */

import { FAILURES } from "../../src/base/failure.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { RUN_NAMES } from "../../src/cli/find-run.ts";
import { renderCommandHelp } from "../../src/cli/help.ts";
import { ENDINGS } from "../../src/protocol/run-events.ts";
import { CONFIG_NAMES, rowOf, variableOf } from "../../src/runtime/config/config-keys.ts";
import { describeRow } from "../../src/runtime/config/config-value.ts";
import { SESSION_NAMES } from "../../src/runtime/sessions/find-session.ts";
import { renderCompared, renderFence, renderPage, renderTable, renderTranscript } from "./page.ts";

export async function renderCliPage(): Promise<string> {
  return renderPage("The command line", [
    "On this page you find every command with its flags and examples. `offshoot COMMAND --help` prints the same.",
    renderCompared("text"),
    await renderTranscript(["--help"]),
    "Flags may stand before or after other words; `--` ends them. An invalid command line prints one line on standard error that says what is wrong, exits with 2, and sends nothing. Exit codes are in [errors.md](errors.md), settings that stay in [config.md](config.md).",
    ...Object.entries(COMMANDS).flatMap(([name, command]) => [
      `## offshoot ${name}`,
      renderFence("text", renderCommandHelp(name, command)),
      HINTS[name] ?? "",
      ...(name === "runs" ? RUNS_BLOCKS : []),
      ...(name === "sessions" ? SESSIONS_BLOCKS : []),
    ]),
  ]);
}

const HINTS: Readonly<Record<string, string>> = {
  run: "The model is given the files first, then the prompt, then standard input. Standard output has the answer alone; everything else is on standard error. A run that has spent anything ends with its id there, for `offshoot runs`.\n\nOn a pipe, standard output is the text of the last turn. On a terminal every turn's text is shown as it comes, because a tool call may follow it. From the second text on, a dim line with the number of the turn is above it (`── turn 3 ──`, plain with `NO_COLOR`): the answer is the text below the last of these lines. Without such a line, there is only one text.\n\nOn a terminal the run and its subagents are drawn as a tree while they work ([delegation.md](delegation.md)). Its keys: `↑` `↓` (or `k` `j`) pick a subagent, `x` stops it after `y` and Enter, `m` leaves a message for it, `Esc` goes back; Ctrl-C stops the run.",
  completions:
    "For bash put `source <(offshoot completions bash)` in `~/.bashrc`; for zsh the same with `zsh`, after `compinit`, in `~/.zshrc`; for fish `offshoot completions fish | source` in `config.fish`.",
};

const RUNS_BLOCKS = [
  "`ID` is any name of a run, the same in all of them:",
  renderTable(
    ["name", "what it is"],
    Object.entries(RUN_NAMES).map(([name, what]) => [`\`${name}\``, what]),
  ),
  "`follow` shows what `run` shows and ends with the run's own exit code; its keys are those of `run`, and Ctrl-C leaves the run as it is (exit code 130). If the process of the run is gone, `follow` does not wait. It prints how to resume the run. What `cancel` and `steer` do to a tree is in [delegation.md](delegation.md#while-it-runs). A name that no run has, or several have, an empty message, and for `cancel` and `steer` a run that has ended are refused with exit code 2.",
];

const SESSIONS_BLOCKS = [
  "`SESSION` is any name of a session, here and for `run --session`:",
  renderTable(
    ["name", "what it is"],
    Object.entries(SESSION_NAMES).map(([name, what]) => [`\`${name}\``, what]),
  ),
  "[sessions.md](sessions.md) says what a session is, and what happens when two runs continue the same one.",
];

export async function renderErrorsPage(): Promise<string> {
  const failures = Object.entries(FAILURES).map(([code, { exit, status, retryable, summary }]) => [
    `\`${code}\``,
    String(exit),
    String(status),
    retryable ? "yes" : "no",
    summary,
  ]);
  const endings = Object.entries(ENDINGS).map(([ending, { exit, summary }]) => [
    `\`${ending}\``,
    ending === "failed" ? "that of its error" : String(exit),
    summary,
  ]);
  return renderPage("Errors and exit codes", [
    "After this page you can tell from an exit code or an error code what went wrong, and whether to try again.",
    await renderTranscript(["run", "--modle", "gpt-5.1", "hello"]),
    "An error is one line on standard error. Set `OFFSHOOT_LOG=debug` to see its cause and where it was thrown; keys are removed from both. A terminal with `TERM=dumb` gets plain lines; `NO_COLOR` switches dimmed text off, and `FORCE_COLOR` on.",
    "## Codes",
    "The code is in `error.code` of JSON output and of the library's `Failure`. Exit code 2 means that nothing was sent.",
    "Over HTTP, some codes have the word that clients of the API know: `rate_limit_exceeded` (`rate_limited`, `provider_overloaded`), `insufficient_quota` (`budget_exceeded`), `context_length_exceeded` (`context_exceeded`), `invalid_api_key` (`unauthorized`), `http_error` (`connector_failed`). A response that failed after it had begun has `error.code` only `rate_limit_exceeded` or `server_error`, as the API defines it; its `error.message` says what went wrong, and its run has the code of this table (`offshoot runs show ID --json`).",
    renderTable(["code", "exit", "HTTP", "try again", "meaning"], failures),
    "## How a run ends",
    "Every run ends in exactly one of these ways. All but `completed` may come with partial work, which is kept and marked as such.",
    renderTable(["ending", "exit", "meaning"], endings),
  ]);
}

const CONFIG_EXAMPLE = `$ offshoot config set model openai/gpt-5.1     # for every run from now on
model is set in /home/ada/.config/offshoot/config.yaml
$ offshoot config get model
openai/gpt-5.1
$ OFFSHOOT_MAX_COST=0.50 offshoot run "…"      # for one command
$ offshoot run --max-turns 5 "…"               # the same, as a flag
$ offshoot config set --project tools read,bash_find   # for everybody in this project
$ offshoot config trust                        # after looking at the project's file`;

export function renderConfigPage(): string {
  const rows = CONFIG_NAMES.map((name) => {
    const row = rowOf(name);
    return [
      `\`${name}\`${row.guarded ? " *" : row.narrows ? " +" : ""}`,
      describeRow(row),
      row.default === undefined ? "" : `\`${String(row.default)}\``,
      `\`${variableOf(name)}\``,
      row.flag === undefined ? "" : `\`--${row.flag}\``,
      row.summary,
    ];
  });
  return renderPage("Settings", [
    "After this page you can set what you do not want to type again, see where each value comes from, and decide what a project's file may set.",
    renderFence("console", CONFIG_EXAMPLE),
    "`offshoot config` alone shows every setting with its value and its source; the table below has them all. Later places win over earlier ones:",
    [
      "1. built in",
      "2. the user's file: `$OFFSHOOT_CONFIG`, else `$XDG_CONFIG_HOME/offshoot/config.yaml`, else `~/.config/offshoot/config.yaml`",
      "3. the project's file: the nearest `.offshoot/config.yaml` in this folder or above it, up to the folder with `.git`, and below the home folder",
      "4. environment variables",
      "5. the file of the agent that `run --agent` names",
      "6. flags",
    ].join("\n"),
    renderFence(
      "yaml",
      "# ~/.config/offshoot/config.yaml\nmodel: openai/gpt-5.1\ntools: [read, bash_find]\nmax_turns: 20",
    ),
    renderTable(["setting", "takes", "default", "variable", "flag of `run`", "meaning"], rows),
    "In a variable or a flag, a list is written with commas and a map as JSON. `offshoot config set KEY VALUE` writes the user's file and keeps its comments; with `--project` it writes the project's.",
    "## Trust",
    "A project's file comes with other people's code. Settings with a * decide where data and money go, so in a project's file they are ignored, with a warning, until you run `offshoot config trust` there. Settings with a + are limits: an untrusted project's file may set less than you have, never more. Trust is for the file as it is: after any change you are asked to look again. `offshoot config untrust` takes it back. A project's file is not read at all if the file, its folder or the project's folder belongs to another user than you and root.",
    "## One address, one vendor",
    "A `url` in a file or a variable is for the vendor that the same place names with `model` or `provider`, and for `custom` if it names none. Another model (`-m openai/gpt-5.1`, `-m ollama/x`, `-m gguf:x.gguf`) is asked at its own address, and the line about the model says so. `--url` is for one run: if a vendor's key would be sent there, name the model too with `-m`.",
    "## Keys",
    "A key is never in a file or a flag. Put it in an environment variable; each vendor has its own ([providers.md](providers.md)), and `api_key_name` names another. A value that looks like a key is refused.",
    "## Models",
    "`models` replaces what the table says of a model: sizes, price in USD per million tokens, abilities, refused parameters. `options` and `headers` are sent with each request of it ([options.md](options.md)). A name that ends in `*` stands for a family.",
    renderFence(
      "yaml",
      'models:\n  custom/my-model:\n    context_tokens: 32768\n    max_output_tokens: 4096\n    price: { input: 0.5, cached: 0.1, output: 1.5 }\n    vision: false\n    refuses: [temperature]\n  openrouter/*:\n    options: { provider: { order: [groq], allow_fallbacks: false } }\n    headers: { x-team: research, x-team-key: $TEAM_KEY }\n  cohere/command-a-03-2025:\n    options: { safety_mode: STRICT, documents: [{ id: tides, data: { text: "…" } }] }',
    ),
    "## Files",
    "Runs are kept in `runs.db`, pulled models in `models/`, and the list of trusted files in `trusted.json`, all in `$OFFSHOOT_DATA`, else `$XDG_DATA_HOME/offshoot`, else `~/.local/share/offshoot`. `offshoot config path` shows that folder.",
  ]);
}
