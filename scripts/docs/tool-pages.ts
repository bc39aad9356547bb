/** The pages about tools, and about their limits. */

import { isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { DELEGATING_TOOLS } from "../../src/delegation/tools/names.ts";
import { CALL_SUBAGENT_SPEC, SUBAGENT_SPEC } from "../../src/delegation/tools/specs.ts";
import { DECIDERS } from "../../src/protocol/run-events.ts";
import { CATALOGUE } from "../../src/tools/catalogue/catalogue.ts";
import { SANDBOX_LEVELS } from "../../src/tools/sandbox/sandbox.ts";
import { EFFECTS, type Tool } from "../../src/tools/tool.ts";
import { SEARCH_PROVIDERS } from "../../src/tools/web/search/providers.ts";
import { PROTECTED_PATHS, SENSITIVE_PATHS } from "../../src/tools/workspace/protected.ts";
import { renderFence, renderPage, renderTable } from "./page.ts";

export function renderToolsPage(): string {
  const usualNames = CATALOGUE.filter((row) => row.isUsual).map(({ tool }) => tool.spec.name);
  const usual = [...usualNames, ...DELEGATING_TOOLS].map((name) => `\`${name}\``);
  const executing = CATALOGUE.filter(({ tool }) => tool.effect === "execute").map(
    ({ tool }) => `\`${tool.spec.name}\``,
  );
  return renderPage("Tools", [
    "After this page you know what agents can do, and you can choose their tools, add programs of yours, and connect MCP servers.",
    renderFence(
      "console",
      '$ offshoot run --tools read,bash_find "List the TypeScript files here"',
    ),
    `Without \`--tools\` a run is offered one tool for each thing that can be done: ${usual.join(", ")}, the three that [delegate](delegation.md), and all of your own and of your MCP servers. \`--tools '*'\` offers everything, \`--tools none\` nothing. There are several names for one thing because models and prompts of different origins ask for them; they do the same and answer in the form that belongs to the name.`,
    `Tools that read and write files stay inside the folder the run was started in. Tools that run commands (${executing.join(", ")}) do not, unless the sandbox confines them: at the default level, \`process\`, a command runs as you and has access to what you have. \`--sandbox sandbox\` keeps commands inside the folder too. [Safety](safety.md) says how each call is decided. Calls that only read run at the same time; others run one after the other, in the order the model made them.`,
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
    ...theDelegating(),
    "## Searching the web",
    "`search_web` asks the provider that `search_provider` names, else the first whose key is set, else the one that needs none.",
    renderTable(
      ["provider", "needs", ""],
      SEARCH_PROVIDERS.map(({ name, summary, needs }) => [`\`${name}\``, needs, summary]),
    ),
    "## Your own programs as tools",
    renderFence("yaml", OWN_TOOL),
    "The file must be executable (`chmod +x scripts/weather`). Each call needs approval, also with `read_only: true`; `--allow weather` lets it run without asking. It gets the arguments as one JSON document on standard input; its standard output is the result, as JSON if it is JSON, else as text. Any other exit code than 0 is a failure, reported with the end of standard error. It runs where the run's commands run. The words of `command` are read by no shell; a relative program is looked for in the workspace, where a tool that writes files could change it. In the library, `defineTool` makes a function a tool: [the library](library.md#tools).",
    "## MCP servers",
    renderFence("console", MCP_COMMANDS),
    "A server's tools are called `mcp__SERVER__TOOL`; its resources and prompts are tools too. It is started when a run first needs it, one connection for all runs of the process, and started again when it dies. What you agreed to is pinned: a hash of each tool's name, schema and description. A tool that has changed later needs approval again, whatever the rules allow. Secrets are named by their variables (`$NAME`) and never written down. Adding a server approves the tools it shows; what a server says of its own tools (read-only, destructive) is shown but has no effect. Servers run outside of the sandbox, as you.",
  ]);
}

function theDelegating(): string[] {
  return [
    "## subagent",
    "Offered by default. It gives one task to a subagent with a conversation of its own and returns its report. A subagent never has more than the run that starts it: tools, paths, hosts, money and depth are intersected (`agent.subagent.*` in [the settings](config.md)). If there are agents as files (`offshoot agents`), the argument `agent` names one. Several calls in one turn run at the same time and share the budget equally.",
    renderTable(["argument", "type", "default", ""], parameterRows({ spec: SUBAGENT_SPEC })),
    "Two more are offered with it. `parallel_subagent` takes a list, `tasks`, each with the arguments above, and `max_concurrent` and `fail_fast`. `call_subagent` starts a subagent in a process of its own. `subagents` comes with `subagent`, for those that work in the background. A subagent has `ask_parent`. All of it is in [delegation.md](delegation.md):",
    renderTable(
      ["argument of `call_subagent`", "type", "default", ""],
      parameterRows({ spec: CALL_SUBAGENT_SPEC }),
    ),
  ];
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

function parameterRows({ spec }: Pick<Tool, "spec">): string[][] {
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
    "After this page you know which tool calls run without a question, what a command can reach once it runs, and what is protected from whom. You can write rules, answer from another terminal, and switch the sandbox on.",
    renderFence(
      "console",
      "$ offshoot run --deny 'command(rm *)' --allow 'shell(git *)' \"Tidy up\"\n$ offshoot runs why-denied run_01k…",
    ),
    "Two things stand between a model and your machine. The **gate** decides whether a call runs: by its effect, by your rules, or by asking you. The **sandbox** limits what a command can do while it runs. The gate judges a call by its words; only the sandbox limits what a running program can do.",
    "## What is protected from whom",
    "This is what holds without any setting, and what it leaves open. The sections below have the details.",
    renderTable(["who", "what stops them", "what does not"], WHO),
    ...theGate(),
    ...theWorkspace(),
    ...theSandbox(),
    ...theRest(),
  ]);
}

const WHO: readonly (readonly string[])[] = [
  [
    "A model, also one that follows instructions in a web page or a file",
    "You are asked before it writes a file, runs a command or sends something. Its tools for files stay in the workspace. It has no keys.",
    "A command that you approve runs as you, with all your files and the network. `--sandbox sandbox` limits it to the workspace, without the network.",
  ],
  [
    "A repository that you cloned",
    "Its `.offshoot` folder cannot choose a model or an address, allow a call, raise a limit or switch the record off until you trust it. Git that a tool starts runs neither hooks nor `core.fsmonitor`.",
    "Its build scripts and tests, once you approve them. `--sandbox sandbox` limits those too.",
  ],
  [
    "A subagent",
    "It has at most the tools, paths, hosts and budget of the run that started it, and its calls are asked about like those of that run.",
    "It can use up the budget that it was given.",
  ],
  [
    "An MCP server",
    "You approve its tools. A tool that changes later is asked about again. It gets a few harmless variables and the secrets that you name for it.",
    "It runs outside of the sandbox, as you.",
  ],
  [
    "A client of `offshoot serve`",
    "It sees only what belongs to its tenant. It uses the tools, models and budget of its key. Commands of a hosted `shell` always run at the level `sandbox`, with limits as a whole. Slow schemas, long queues and large prompts of one tenant cost the others little: tenants take turns at the queue and at a busy vendor; schemas are checked in threads with lower priority; and large JSON is parsed, stored and sent on in slices of about 5 ms, in turn by tenant. [What is not cut into slices](server.md#large-requests) is listed with its cost.",
    "Clients with keys of one tenant see the same responses and files.",
  ],
  [
    "Another user of this machine",
    "A project's file or folder that belongs to another user is not read. The record, the keys and the list of trusted files can be read by your user alone.",
    "Root can read and change everything.",
  ],
];

function answersFromElsewhere(): string[] {
  return [
    "### Answering from another terminal",
    "An open question is in the record of its run, and every process of your user that can write the record can answer it. The first answer counts, wherever it comes from. The other terminal says that its question is no longer needed: `answered in another terminal: yes`. A second answer prints one line that says it was too late, exits with 2, and changes nothing. A yes names the question (`tool:3.1`, as `runs waiting` prints it), because another one may be open by the time you answer.",
    renderFence(
      "sh",
      'offshoot runs waiting                            # every open question: who asks, for what, why\noffshoot runs approve last/parser-1.0 tool:3.1   # yes; --always or --tree for calls like it\noffshoot runs deny last/parser-1.0 tool:3.1 "Use the test folder"   # no; the model is told why, and the run continues',
      "tested by test/e2e/docs-at-work.e2e.ts",
    ),
    "Without a terminal (a pipe, CI, a service) a question is refused at once, unless you say how long to wait: `--approval-wait 600` or the setting `approval_wait`, in seconds. Standard error says what it waits for. When the time is over the call is denied, and the model is told: `no answer came within 600 s`. With a terminal the same setting limits how long the question stays there; the default is a day. The time of a question does not count against `--timeout`. A run with `--no-store` is in no record, so only its own terminal can answer.",
    "If the process that asks dies, the question stays open in the record. An answer that you give then is stored. `runs resume` uses it once and does not ask again. If there are several answers, a no has precedence. Without a stored answer, the resumed run asks again. An answer that came too late for one question is never used for a later one.",
    "What it does not protect against: a command that a tool runs outside of the sandbox can do what your user can do, and that includes writing to the record. `runs approve` refuses to work inside a command that a tool started, but a hostile program can get around that. Commands in `--sandbox sandbox` cannot reach the record. `offshoot serve` does not ask: a call that needs approval is refused at once, and no route answers questions.",
  ];
}

function theGate(): string[] {
  return [
    "## The gate",
    "Every tool call of every run passes these checks, in this order: the tool exists; the arguments are valid; what the call touches (paths are resolved to where they really lead, commands are split into their parts) was granted to the run; the rules; the question, if the rules ask one; the budget. The decision is written into the run's record before the call runs. `tool_timeout` limits how long a call takes, `tool_output_limit` how much it returns.",
    "`--approve ask` (the default) asks about the effects marked below. `--approve auto` allows them, `--approve deny` refuses them. The question appears on the terminal, whatever standard input and output are. The answers are: yes; no (the model reads what you write after it: `n, use the test folder`); always (for this run; the question shows what is then allowed: the tool, or commands with the same beginning, as `shell(git log *)`); tree (always, for every run of the tree); and cancel (the run). The question of a subagent says which one it is: its label, its agent, its place in the tree, its depth and its task. If your answer also covers other questions that wait, you are not asked those. A program that passes `ask` to `createRuntime` gets the same facts as `child` of the question. The question's signal is aborted when another answer has settled it. Text that a model wrote is shown escaped, and keys typed before the question are ignored. Without a terminal, and in the background, a call that needs a question is refused at once, and the model is told so. Nothing a model writes counts as an answer.",
    ...answersFromElsewhere(),
    renderTable(
      ["effect", "asked about", ""],
      Object.entries(EFFECTS).map(([name, { asks, summary }]) => [
        `\`${name}\``,
        asks ? "yes" : "no",
        summary,
      ]),
    ),
    "## Rules",
    "`deny`, `ask` and `allow` are lists of rules, in the settings and as flags of `run`. Deny beats ask, ask beats allow. The lists of all files and flags are joined. A project's file may deny and ask; its `allow` rules are ignored until you trust the file (`offshoot config trust`). Your own `ask` rules are obeyed with `--approve auto` too.",
    renderTable(
      ["rule", "fits"],
      [
        ["`write`", "every call of the tool; names may have `*`"],
        ["`write(docs/**)`", "a call of the tool that touches such a path"],
        ["`fetch(*.example.com)`", "a call of the tool that goes to such a host"],
        ["`shell(git *)`", "a call of the tool that runs such a command"],
        ["`path(.env)`", "any call that touches such a path, by any name it has"],
        ["`host(*.internal)`", "any call that goes to such a host, also by a redirect"],
        ["`command(rm *)`", "any call that runs such a command, also after `sudo`, `env`, `sh -c`"],
      ],
    ),
    "A `deny` or `ask` rule fits when anything the call touches fits. An `allow` rule fits only when everything does. A command that cannot be read in advance (`$(…)`, `eval`, code for an interpreter) fits every rule that denies or asks about commands or paths, and no rule that allows. A command that a rule allows by its name may not write files with `>`. A rule about paths looks at every word of a command, at the values of its options, and at where those lead through links, even if nothing exists there yet. Rules read a command's words, not what its programs do: a script or a makefile is known by its name only, and programs that start other programs are known from a list. A rule that denies or asks about a program also fits where an unknown program has it among its words. Listings and searches do not ask for approval, so they leave out files that a rule asks about or denies.",
    "A rule that allows git is about the repository of the workspace. A folder of another person may contain another repository as plain files, whose settings and hooks are programs. So `shell(git *)` covers the forms of git that are known to start no such program and to write no file that their words name: `status`, `log`, `diff`, `show`, `blame`, `grep`, `add`, `commit`, `checkout`, `switch`, `restore`, `reset`, `stash`, `merge`, `rebase`, `cherry-pick`, `revert`, `apply`, `tag`, `branch` and others like them. `push`, `fetch`, `pull` and `ls-remote` are covered with no remote or one by its name (`origin`), not with an address or a path, and not with a name that a file or folder at the top of the workspace has. Every other form is asked about, whatever rule allows git: `clone`, `submodule`, `worktree add`, `remote add`, `archive`, `bundle`, `format-patch`, `mv`, aliases and programs of your own; the options `-C`, `--git-dir`, `--work-tree`, `--bare`, `--output`, `--no-index`, `--ext-diff`, `--strategy`; a path that leads out of the workspace or to a protected place, also through a link; git in another folder than the top, or after `sudo`, `env -i` and the like. No rule for commands allows `hg`, `jj`, `sl`, `fossil`, `bzr`, `darcs`, `pijul`, `svn` or `cvs`, whose repositories may lie in the workspace as plain files.",
    "Git that a tool starts runs neither `core.fsmonitor` nor hooks (`git_hooks: true` switches them on), opens no editor, takes no bare repository that was not named, and talks to no repository by a path or a `file://` address: at the other end git would obey that repository's settings and hooks. `git_hooks: true` allows that too, and `git -c protocol.file.allow=always …` does it once; no rule for commands allows that form.",
    "A rule that names no tool is refused, with the nearest name. Tools of MCP servers (`mcp__SERVER__TOOL`, also with `*`) may be named before the server is added.",
  ];
}

function theWorkspace(): string[] {
  return [
    "## The workspace",
    "Tools that read and write files stay in the folder the run was started in. Paths are resolved to where they really lead, and the opened file is checked again. These paths are refused at any depth, whatever you approve:",
    renderTable(
      ["path", ""],
      Object.entries(PROTECTED_PATHS).map(([path, reason]) => [`\`${path}\``, reason]),
    ),
    `Files that usually hold secrets are asked about one by one and never searched: ${SENSITIVE_PATHS.map((glob) => `\`${glob.replace("**/", "")}\``).join(", ")}.`,
  ];
}

function theSandbox(): string[] {
  return [
    "## The sandbox",
    "`--sandbox LEVEL` chooses what confines the commands that tools run. The level is in every run's record. A level that is not available is refused; it is never replaced by a weaker one. `offshoot doctor` prints what this machine has.",
    renderTable(
      ["level", "what a command can do", "whom it stops", "what it does not stop"],
      Object.entries(SANDBOX_LEVELS).map(([name, { summary, stops, leaves }]) => [
        `\`${name}\``,
        summary,
        stops,
        leaves,
      ]),
    ),
    "`sandbox` uses bubblewrap on Linux (`apt install bubblewrap`) and Seatbelt on macOS. Commands inside it run without a question. On Linux a command:",
    [
      "- reads the workspace, the system's programs and the programs on your `PATH`. Folders of package managers are shown without the logins in them (`uv`, `cargo`, `npm`, `pip`). Your home folder, `/tmp`, `/var/tmp` and `/dev/shm` are empty, in memory, 512 MiB at most each, and new for each command.",
      "- writes to the workspace and to those folders, and nowhere else.",
      "- cannot read files that a rule denies or that usually hold secrets. `--allow 'path(…)'` shows the latter.",
      "- cannot rename or remove a folder that holds something covered at any depth: the system answers that it is busy. Inside such a folder everything else works. Moving a file out of it copies the file, as between two disks.",
      "- can read version control and cannot change it. The same is true for what git obeys outside `.git`: the repository that a `.git` file leads to, included settings files, the folder of `core.hooksPath`, scripts that settings such as `core.fsmonitor` or `filter.*.clean` name, and the place of a submodule that is not checked out. A `.git` that is a symbolic link, and an included settings file that is missing, cannot be protected: the sandbox refuses to run commands and says what to change.",
      "- cannot create a repository at the top of the workspace: it cannot make `.git`, `.hg`, `.jj` or `.offshoot`, nor, if there is no `.git`, `HEAD`, which would make the folder a bare git repository whose settings your next `git status` obeys. While a command runs you may see empty folders of these names; they hold no files, so no commit includes them, and they are removed afterwards (after a crash: by the next run).",
      "- has no network and no loopback, unless `sandbox_network` is set. With it, a command also reaches servers of this machine and abstract Unix sockets, as you do.",
      "- sees and signals no process of yours, has no capabilities, and cannot gain any.",
      "- sees of `/proc` its own processes and a few figures (`cpuinfo`, `meminfo`, …). `/proc/sys` is read-only. Everything else there is covered, and there is no `/sys`.",
      "- is held by a filter of system calls (x64 and arm64): no mounts, no namespaces, no key rings, no kernel modules, no `bpf`, `perf`, `io_uring` or `userfaultfd`, no attaching to running processes with `ptrace`, no sockets except Unix, IPv4, IPv6 and netlink, no 32-bit programs. A debugger may start a program; LeakSanitizer and `strace` may not attach.",
    ].join("\n"),
    "Your home folder itself, and any folder that contains it, are refused as a workspace. On macOS there is no filter of system calls, and the limits of a hosted shell as a whole (below) are not applied.",
    "### Running as root",
    "Containers and CI jobs often run as root. `offshoot doctor` warns about it.",
    renderTable(
      ["level", "a command of a run that root started"],
      [
        [
          "`none`, `process`",
          "Is root. It can change the whole machine. The limit on the number of processes does not apply to it.",
        ],
        [
          "`sandbox`",
          "Can reach no more than the command of another user: everything in the list above applies. It cannot write kernel settings.",
        ],
      ],
    ),
    "Two things differ at `sandbox` too. Files that a command creates in the workspace belong to root. And a hole in the kernel would give a command more, because the kernel still counts it as user 0. Run Offshoot, and above all a server, as a user of its own if you can.",
    "### Hosted shells",
    "A server runs the commands of a hosted `shell` at the level `sandbox`, for clients who are strangers to it. In addition to the list above, such a command sees a made-up user (`user`, 1000), home (`/home/user`), host name (`container`) and `PATH`, and the container's files at `/mnt/data`. It has no variable, program folder or name of the server's user. The mount table (`/proc/self/mountinfo`) still shows the types and devices of the server's file systems and the path of one temporary folder; the kernel offers no way to hide it. The name of that folder tells nothing of the process or the machine; the folder that it lies in (`TMPDIR`) is shown.",
    renderTable(
      ["all that a command starts, together", "limit"],
      [
        ["memory, with files in memory", "the container's `memory_limit` (1, 4, 16 or 64 GiB)"],
        ["processes and threads", "512"],
        ["files on disk", "2 GiB, or what the tenant may still store (`storage_bytes`) plus 4 MiB"],
        ["files and folders", "20,000"],
      ],
    ),
    "A command that exceeds a limit is ended with everything that it started, and its standard error says which limit it was. After a limit on files, the container's files are as they were before the call. The server measures ten times a second, and the folder about twice a second, so a command can be over a limit for a moment. If the server may use a control group (cgroup v2), memory and processes are never over theirs. Memory that the kernel holds for a command (pipes, sockets) is counted only with a control group. Shared memory and removed files count as long as a process has them open or mapped. A file that is mapped but no longer open counts only as far as it is mapped, if the server is not root or lacks `CAP_SYS_ADMIN` in a container. A command can then keep more on disk than it shows. Its memory is still limited by a control group. Limits are for each response: two responses that use one container at the same time have them twice.",
    "### The levels `none` and `process`",
    "A command runs as you. It reads your files by their paths, may read the variables of your other processes if the system lets you, and reaches the network. What it started is ended with it: by its process group and, on Linux, by a mark in its environment and by its parents. A program that leaves all three at once, as `(env -i setsid sleep 600 &)` does, survives the run. Only the level `sandbox` ends it too, because the system ends all processes of a namespace together. The values of key variables are removed from what tools return if they appear unchanged; this catches accidents only. A command that encodes a key gets around it.",
  ];
}

function theRest(): string[] {
  return [
    "## The web",
    "`fetch`, `scrape_webpage` and `search_web` use http and https only. A host name is resolved once, every address of it is checked, and the connection goes to a checked address. This machine, private networks, link-local and metadata addresses are refused, however they are written. Each redirect is checked again, five at most. A call that a rule allows for its host goes to no other host. The limits are 5 MiB on the wire, 20 MiB decompressed and 30 s in all. Pages and PDFs are read in a separate process, which is ended when it takes too long or too much memory. `web_private_hosts` allows hosts of yours. With `web_proxy: true` the proxy resolves names; a name that only the proxy can resolve is not checked.",
    "## Who decided",
    "`offshoot runs why-denied ID` lists the calls that a run was refused, with the rule that refused each and the file that rule is in. In the record, `by` is one of:",
    renderTable(
      ["by", ""],
      Object.entries(DECIDERS).map(([name, summary]) => [`\`${name}\``, summary]),
    ),
  ];
}
