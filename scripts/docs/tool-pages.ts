/** The pages about tools, and about what keeps them in bounds. */

import { isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { DECIDERS } from "../../src/protocol/run-events.ts";
import { CATALOGUE } from "../../src/tools/catalogue.ts";
import { SANDBOX_LEVELS } from "../../src/tools/sandbox/sandbox.ts";
import { EFFECTS, type Tool } from "../../src/tools/tool.ts";
import { SEARCH_PROVIDERS } from "../../src/tools/web/search/providers.ts";
import { PROTECTED_PATHS, SENSITIVE_PATHS } from "../../src/tools/workspace/protected.ts";
import { renderFence, renderPage, renderTable } from "./page.ts";

export function renderToolsPage(): string {
  const usual = CATALOGUE.filter((row) => row.isUsual).map(({ tool }) => `\`${tool.spec.name}\``);
  return renderPage("Tools", [
    renderFence(
      "console",
      '$ offshoot run --tools read,bash_find "List the TypeScript files here"',
    ),
    `Without \`--tools\` a run is offered one tool for each thing that can be done: ${usual.join(", ")}, and all of your own and of your MCP servers. \`--tools '*'\` offers everything, \`--tools none\` nothing. Several names for one thing are there because models and prompts of different schools ask for them; they do the same and answer in the form that belongs to the name.`,
    "A tool reads and writes nothing outside the folder the command was started in. Calls that only read run side by side, others in the order they were made. What a call may do is decided as [safety](safety.md) says.",
    renderTable(
      ["tool", "what it does to the world", ""],
      CATALOGUE.map(({ tool, isUsual }) => [
        `[\`${tool.spec.name}\`](#${tool.spec.name})`,
        `${tool.effect}${tool.readOnly ? "" : ", in order"}`,
        isUsual ? "offered by default" : "",
      ]),
    ),
    ...CATALOGUE.flatMap(({ tool }) => [
      `## ${tool.spec.name}`,
      tool.spec.description ?? "",
      renderTable(["argument", "type", "default", ""], parameterRows(tool)),
    ]),
    "## Searching the web",
    "`search_web` asks the provider that `search_provider` names, else the first whose key is set, else the one that needs none.",
    renderTable(
      ["provider", "needs", ""],
      SEARCH_PROVIDERS.map(({ name, summary, needs }) => [`\`${name}\``, needs, summary]),
    ),
    "## Your own programs as tools",
    renderFence("yaml", OWN_TOOL),
    "The arguments go in as one JSON document on standard input; what comes out on standard output is the result, as JSON if it is that, else as text. Any other exit code than 0 is a failure, told with the end of standard error. It runs where the run's commands run, and is asked about like any program. The words of `command` are read by no shell; a relative program is looked for in the workspace, where a tool that writes files could change it. In the library, `defineTool` makes a function a tool; see the README.",
    "## MCP servers",
    renderFence("console", MCP_COMMANDS),
    "A server's tools are called `mcp__SERVER__TOOL`; its resources and prompts are tools too. It is started when a run first needs it, one connection for all runs of the process, and started again when it dies. What you agreed to is pinned: a hash of each tool's name, schema and description. A tool that is another one later is asked about again, whatever the rules allow. Secrets are named by their variables (`$NAME`) and never written down. Adding a server approves the tools it shows; what a server says of its own tools (read-only, destructive) is shown and decides nothing. Servers run outside of the sandbox, as you.",
  ]);
}

const OWN_TOOL = `# ~/.config/offshoot/config.yaml
own_tools:
  weather:
    command: [./scripts/weather]
    description: The weather in a city.
    parameters:
      type: object
      properties: { city: { type: string } }
      required: [city]
    read_only: true`;

const MCP_COMMANDS = `$ offshoot mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
$ offshoot mcp add tracker https://tracker.example/mcp --header 'Authorization: Bearer $TRACKER_TOKEN'
$ offshoot mcp list
$ offshoot mcp test files`;

function parameterRows({ spec }: Tool): string[][] {
  const { properties, required } = (spec.parameters ?? {}) as JsonObject;
  if (!isJsonObject(properties)) return [];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => {
    const { type, enum: words, default: value, description } = (schema ?? {}) as JsonObject;
    const kind = Array.isArray(words) ? words.map((word) => JSON.stringify(word)).join(", ") : type;
    const isNeeded = needed.includes(name) && value === undefined;
    const fallback = value === undefined ? "" : `\`${JSON.stringify(value)}\``;
    return [`\`${name}\``, String(kind), isNeeded ? "needed" : fallback, String(description ?? "")];
  });
}

export function renderSafetyPage(): string {
  return renderPage("Safety", [
    "Every tool call of every run passes one gate, in this order: is there such a tool; do the arguments fit it; what does the call touch (paths resolved to where they really lead, commands taken apart); was the run granted that; what do the rules say; ask, if that is what they say; is there budget left. Then the decision is written into the run's record, and only then does the call run, with a limit on its time (`tool_timeout`) and on its output (`tool_output_limit`).",
    renderFence(
      "console",
      "$ offshoot run --deny 'command(rm *)' --allow 'shell(git *)' \"Tidy up\"\n$ offshoot runs why-denied run_01k…",
    ),
    "## What is asked about",
    "`--approve ask` (the default) asks about the effects below that say so; `auto` lets them through; `deny` refuses them. Questions are asked on the terminal itself, whatever standard input and output are: yes, no, always (this tool, for this run), cancel (the run). What a model wrote is shown escaped, and what was typed before the question does not count. Without a terminal, and in the background, asking means refusing, at once, and the model is told so. No argument of a tool and no word of a model is ever an answer.",
    renderTable(
      ["effect", "asked about", ""],
      Object.entries(EFFECTS).map(([name, { asks, summary }]) => [
        `\`${name}\``,
        asks ? "yes" : "no",
        summary,
      ]),
    ),
    "## Rules",
    "`deny`, `ask` and `allow` are lists of rules in the settings and flags of `run`. Deny beats ask beats allow, and the lists of all files and flags count together. A project's file may deny and ask; what it allows counts only when you have trusted the file (`offshoot config trust`). A rule of your own that asks is obeyed also with `--approve auto`.",
    renderTable(
      ["rule", "fits"],
      [
        ["`write`", "every call of the tool; names may have `*`"],
        ["`write(docs/**)`", "a call of the tool that touches such a path"],
        ["`fetch(*.example.com)`", "a call of the tool that goes to such a host"],
        ["`shell(git *)`", "a call of the tool that runs such a command"],
        ["`path(.env)`", "any call that touches such a path, by any name it has"],
        ["`host(*.internal)`", "any call that goes to such a host, also by a redirect"],
        [
          "`command(rm *)`",
          "any call that runs such a command, also behind `sudo`, `env`, `sh -c`",
        ],
      ],
    ),
    "A rule that denies or asks fits when anything the call touches fits; one that allows only when everything does. A command that cannot be read beforehand (`$(…)`, `eval`, code for an interpreter) fits every rule that denies or asks about commands or paths, and none that allows; one that is let through by its name writes no file by `>`. Rules read a command's words, not what its programs do: a script or a makefile is known by its name, launchers by a list. Only the sandbox holds a program. Listings and searches ask nobody, so they leave out what a rule asks about or denies.",
    "## The workspace",
    "Tools stay in the folder the run was started in. Paths are resolved to where they really lead, and what was opened is checked once more. Refused at any depth, whatever is approved:",
    renderTable(
      ["path", ""],
      Object.entries(PROTECTED_PATHS).map(([path, reason]) => [`\`${path}\``, reason]),
    ),
    `Files that usually hold secrets are asked about one by one and never searched: ${SENSITIVE_PATHS.map((glob) => `\`${glob.replace("**/", "")}\``).join(", ")}.`,
    "## The sandbox",
    "`--sandbox LEVEL` says what holds the commands that tools run; the level is in every run's record. A level that cannot be had is refused, never replaced by a weaker one. `offshoot doctor` says what this machine can give.",
    renderTable(
      ["level", ""],
      Object.entries(SANDBOX_LEVELS).map(([name, { summary }]) => [`\`${name}\``, summary]),
    ),
    "`sandbox` is bubblewrap on Linux (`apt install bubblewrap`) and Seatbelt on macOS. Inside it commands need no question. They see the workspace, the system's programs and those on the PATH; the home folder and `/tmp` are empty, in memory, and new for each command. Files that a rule denies or that usually hold secrets cannot be read (`--allow 'path(…)'` shows the latter); version control can be read, not changed, and not made at the top. A workspace that contains your home folder is refused.",
    "At `none` and `process` a command runs as you: it can read your files by their paths, the variables of your other processes where the system lets you, and reach the network. What it started is ended with it, by its process group and, on Linux, by a mark in its environment and by its descent; a program that leaves all three gets away. The limit on processes does not hold for the superuser. The values of key variables are kept out of what tools return, as they stand; that is a net, not a wall.",
    "## The web",
    "`fetch`, `scrape_webpage` and `search_web` speak http and https alone. A host is resolved once, every address it has is checked, and the connection goes to a checked address: this machine, private networks, link-local and metadata addresses are refused in every form they can be written. Each redirect is checked again, five at most; a call that a rule lets through for its host goes to no other. 5 MiB on the wire, 20 MiB decompressed, 30 s in all; pages and PDFs are read in a process of their own, which is ended when it takes too long or too much. `web_private_hosts` lets hosts of yours through. `web_proxy: true` trusts the proxy to resolve names: what only the proxy can resolve is not checked.",
    "## Who decided",
    "`offshoot runs why-denied ID` lists what a run was refused, with the rule that did it and where that rule stands. In the record, `by` is one of:",
    renderTable(
      ["by", ""],
      Object.entries(DECIDERS).map(([name, summary]) => [`\`${name}\``, summary]),
    ),
  ]);
}
