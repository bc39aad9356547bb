/**
 * `offshoot mcp`: manages the MCP servers whose tools runs may use. Adding one approves what it offers.
 */

import { systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { createLog } from "../../base/log.ts";
import { createRedact, findSecrets } from "../../base/redact.ts";
import { clip, plural } from "../../base/text.ts";
import type { Config } from "../../runtime/config/config.ts";
import { readConfigFile } from "../../runtime/config/config-file.ts";
import { toMcpFiles, toMcpServers } from "../../runtime/tool-settings.ts";
import { createMcpHub, type Inspection, type McpHub } from "../../tools/mcp/hub.ts";
import {
  checkMcpName,
  type McpServer,
  parseMcpServers,
  toAddress,
} from "../../tools/mcp/server.ts";
import { isLoginNeeded } from "../../tools/mcp/session/login-needed.ts";
import { VERSION } from "../../version.ts";
import type { CommandCall, Options } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { cleanForTerminal } from "../terminal.ts";

export async function run(call: CommandCall, io: Io): Promise<number> {
  const [action = "list", name, ...rest] = call.words;
  if (action === "serve") return await serve(call, io);
  const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (!act) throw new Failure("invalid_request", `Unknown command \`offshoot mcp ${action}\`.`);
  const needsName = act.usage !== "";
  if (needsName !== (name !== undefined) || (rest.length > 0 && action !== "add")) {
    throw new Failure("invalid_request", `Write \`offshoot mcp ${action} ${act.usage}\`.`);
  }
  const config = await openConfig({}, io);
  await act.run({ name: name ?? "", rest, options: call.options, config, io });
  return 0;
}

async function serve(call: CommandCall, io: Io): Promise<number> {
  const { serveMcp } = await import("./mcp-serve.ts");
  return await serveMcp(call, io);
}

interface Action {
  readonly name: string;
  /** The words after the subcommand. */
  readonly rest: readonly string[];
  readonly options: Options;
  readonly config: Config;
  readonly io: Io;
}

interface ActionRow {
  readonly usage: string;
  readonly run: (action: Action) => Promise<void>;
}

const ACTIONS: Readonly<Record<string, ActionRow | undefined>> = {
  list: { usage: "", run: list },
  add: { usage: "NAME URL`, or `offshoot mcp add NAME -- COMMAND [ARGUMENT...]", run: add },
  remove: { usage: "NAME", run: remove },
  test: { usage: "NAME", run: test },
  approve: { usage: "NAME", run: approve },
  login: { usage: "NAME", run: login },
};

async function list(action: Action): Promise<void> {
  const { io, options } = action;
  const servers = toMcpServers(action.config);
  await withHub(action, servers, async (hub) => {
    const rows = await Promise.all(
      servers.map(async (server) => {
        const kind = server.reach.kind;
        const approved_tools = await hub.countAgreed(server.name);
        const { name, enabled } = server;
        return { name, kind, address: toAddress(server), enabled, approved_tools };
      }),
    );
    if (options["json"]) return printJson(io, rows);
    if (rows.length === 0) {
      await io.stderr.write("No MCP servers yet. Add one: offshoot mcp add NAME -- COMMAND\n");
    }
    const width = Math.max(...rows.map(({ name }) => name.length), 0);
    for (const { name, kind, address, enabled, approved_tools: count } of rows) {
      const agreed = count === 0 ? "not approved" : `${plural(count, "tool")} approved`;
      const standing = enabled ? agreed : "disabled";
      const shown = cleanForTerminal(clip(address, 70));
      await io.stdout.write(`${name.padEnd(width)}  ${kind.padEnd(5)}  ${shown}  (${standing})\n`);
    }
  });
}

async function add(action: Action): Promise<void> {
  const { name, rest, options, config, io } = action;
  checkMcpName(name);
  const known = await readUserServers(config);
  if (Object.hasOwn(known, name) || toMcpServers(config).some((server) => server.name === name)) {
    const message = `There is an MCP server \`${name}\` already. Remove it first: offshoot mcp remove ${name}`;
    throw new Failure("invalid_request", message);
  }
  const entry = toEntry(rest, options);
  const servers = parseMcpServers({ [name]: entry }, "`offshoot mcp add`");
  const save = async (): Promise<void> => {
    await writeUserServers(config, { ...known, [name]: entry });
    await io.stdout.write(`\`${name}\` is added to ${config.paths.configFile}\n`);
  };
  if (options["no-test"]) {
    await save();
    await io.stdout.write(`Nothing is approved yet. Look at it: offshoot mcp test ${name}\n`);
    return;
  }
  await withHub(action, servers, async (hub) => {
    const seen = await hub.inspect(name).catch((thrown) => toFailure(thrown));
    if (!(seen instanceof Failure)) {
      await showInspection(seen, io);
      await save();
      await hub.approve(seen);
      return io.stdout.write(`${plural(seen.tools.length, "tool")} of ${name} approved.\n`);
    }
    // A server that asks for a login is added: it must be known before `offshoot mcp login` can use it.
    if (!isLoginNeeded(seen)) throw untested(seen, name);
    await save();
    await io.stdout.write(`${seen.message}\n`);
  });
}

function untested(failure: Failure, name: string): Failure {
  const message = `${failure.message} \`${name}\` was not added; \`--no-test\` adds it without a test.`;
  return new Failure(failure.code, message, { cause: failure });
}

async function remove(action: Action): Promise<void> {
  const { name, config, io } = action;
  const known = await readUserServers(config);
  const { [name]: _, ...left } = known;
  if (!Object.hasOwn(known, name)) {
    const isElsewhere = toMcpServers(config).some((server) => server.name === name);
    const where = isElsewhere ? `It comes from ${config.sourceOf("mcp_servers")}.` : "";
    const message = `${config.paths.configFile} has no MCP server \`${clip(name, 64)}\`. ${where}`;
    throw new Failure("not_found", message.trim());
  }
  await writeUserServers(config, left);
  await withHub(action, [], (hub) => hub.forget(name));
  await io.stdout.write(
    `\`${name}\` is removed from ${config.paths.configFile}, with its approvals and its login.\n`,
  );
}

async function test(action: Action): Promise<void> {
  const { name, options, io } = action;
  await withHub(action, toMcpServers(action.config), async (hub) => {
    const seen = await hub.inspect(name);
    if (options["json"]) return printJson(io, seen);
    await showInspection(seen, io);
    const isOld = seen.tools.some(({ standing }) => standing !== "agreed") || seen.gone.length > 0;
    if (isOld) await io.stdout.write(`To approve this: offshoot mcp approve ${name}\n`);
  });
}

async function approve(action: Action): Promise<void> {
  const { name, io } = action;
  await withHub(action, toMcpServers(action.config), async (hub) => {
    const seen = await hub.inspect(name);
    await showInspection(seen, io);
    await hub.approve(seen);
    await io.stdout.write(`${plural(seen.tools.length, "tool")} of ${name} approved.\n`);
  });
}

/** Time for a person to find a password. */
const LOGIN_MS = 600_000;

async function login(action: Action): Promise<void> {
  const { name, io } = action;
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  const late = new Failure("timeout", "No login within ten minutes.");
  const timer = setTimeout(() => stop.abort(late), LOGIN_MS);
  try {
    await withHub(action, toMcpServers(action.config), async (hub) => {
      const show = async (url: URL): Promise<void> => {
        await io.stdout.write(`Open this address to log in:\n${url.href}\n`);
      };
      await hub.logIn(name, show, stop.signal);
      await io.stdout.write(`Logged in to ${name}.\n`);
      if ((await hub.countAgreed(name)) > 0) return;
      await io.stdout.write(`To see and approve its tools: offshoot mcp approve ${name}\n`);
    });
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

async function withHub(
  { config, io }: Action,
  servers: readonly McpServer[],
  use: (hub: McpHub) => Promise<unknown> | unknown,
): Promise<void> {
  const redact = createRedact(findSecrets(io.env));
  const hub = createMcpHub({
    ...toMcpFiles(config),
    log: createLog("mcp", {
      setting: io.env["OFFSHOOT_LOG"],
      clock: systemClock,
      redact,
      write: (line) => io.stderr.write(line),
    }),
    servers,
    env: io.env,
    root: io.cwd,
    clock: systemClock,
    version: VERSION,
    onProblem: (problem) => io.stderr.write(`offshoot: ${cleanForTerminal(problem)}\n`),
  });
  try {
    await use(hub);
  } finally {
    await hub.close();
  }
}

/** The servers in the user's own file, without the other layers. */
async function readUserServers({ paths }: Config): Promise<JsonObject> {
  const file = await readConfigFile(paths.configFile);
  return (file?.settings.get("mcp_servers") as JsonObject | undefined) ?? {};
}

async function writeUserServers({ paths }: Config, servers: JsonObject): Promise<void> {
  const { writeSetting } = await import("../../runtime/config/config-write.ts");
  const { configFile: file, trustFile } = paths;
  await writeSetting({ file, name: "mcp_servers", text: JSON.stringify(servers), trustFile });
}

/** Makes the entry of the file from the words after the name. */
function toEntry(rest: readonly string[], options: Options): JsonObject {
  const [first, ...args] = rest;
  const env = toTexts(options["env"]).map(toVariable);
  const headers = toTexts(options["header"]).map(toHeader);
  if (first === undefined) {
    throw new Failure("invalid_request", `Write \`offshoot mcp add ${ACTIONS["add"]?.usage}\`.`);
  }
  const isUrl = args.length === 0 && /^https?:\/\//.test(first);
  const reach = isUrl ? { url: first } : { command: first, ...(args.length > 0 ? { args } : {}) };
  return {
    ...reach,
    ...(env.length > 0 ? { env: Object.fromEntries(env) } : {}),
    ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
  };
}

/** `NAME` passes the variable of that name; `NAME=$OTHER` and `NAME=text` set it. */
function toVariable(text: string): [string, string] {
  const at = text.indexOf("=");
  return at === -1 ? [text, `$${text}`] : [text.slice(0, at), text.slice(at + 1)];
}

function toHeader(text: string): [string, string] {
  const at = text.indexOf(":");
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new Failure("invalid_request", '`--header` is written "Name: $VARIABLE".');
}

function toTexts(value: Options[string]): readonly string[] {
  return Array.isArray(value) ? value : typeof value === "string" ? [value] : [];
}

const MARKS = { agreed: "       ", changed: "CHANGED", unknown: "new    " } as const;

async function showInspection(seen: Inspection, io: Io): Promise<void> {
  const width = Math.max(...seen.tools.map(({ name }) => name.length), 0);
  const lines = [
    `${seen.server}: ${seen.title}, ${plural(seen.tools.length, "tool")}`,
    ...seen.tools.map(
      ({ name, standing, description }) =>
        `  ${MARKS[standing]}  ${name.padEnd(width)}  ${clip(description, 80)}`,
    ),
    ...seen.gone.map((remote) => `  gone     ${remote}`),
    ...seen.problems.map((problem) => `  ${problem}`),
  ];
  await io.stdout.write(`${lines.map((line) => cleanForTerminal(line).trimEnd()).join("\n")}\n`);
}

async function printJson(io: Io, value: unknown): Promise<void> {
  await io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
