/** `offshoot serve`: serves the Responses API over HTTP until it is stopped. */

import { statSync } from "node:fs";
import { systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { createLog } from "../../base/log.ts";
import { createRedact, findSecrets } from "../../base/redact.ts";
import { loadAgents } from "../../delegation/agents/load-agents.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toSettingViews } from "../../runtime/config/setting-views.ts";
import { createNetwork } from "../../runtime/network.ts";
import { projectConfigFile } from "../../runtime/paths.ts";
import { toRuntimeOptions } from "../../runtime/settings.ts";
import type { LoadedServer } from "../../server/running/generation.ts";
import { runServer, type ServerProcess } from "../../server/running/run-server.ts";
import { openSealKey } from "../../server/running/seal-key.ts";
import { type ServerSettings, toServerSettings } from "../../server/running/server-settings.ts";
import type { Options, RunCommand } from "../command.ts";
import type { DoctorCheck } from "../doctor-check.ts";
import { createHangup } from "../hangup.ts";
import type { Io } from "../io.ts";
import { toPlaces } from "../open-agents.ts";
import { openConfig } from "../open-config.ts";
import { attachKeys } from "../open-keys.ts";
import { type PickedServed, pickServed } from "../pick-served.ts";
import { toWarningLine } from "../terminal.ts";

export const run: RunCommand = async ({ options }, io) =>
  await runServer(() => load(options, io), toServerProcess(io));

/** The present settings from files, environment and flags. */
export async function load(options: Options, io: Io): Promise<LoadedServer> {
  // Read again with the settings, so that a new or replaced key is used from then on.
  await attachKeys(io);
  // `--no-store` of `run` means no record at all. Here it is the default for requests that do not say `store`.
  const { "no-store": noStore, tools, ...flags } = options;
  const config = await openConfig(flags, io);
  const around = { ...io, noStore: noStore === true };
  const settings = toServerSettings(config, around);
  requireFolder(settings.responses.root, config.sourceOf("server.root"));
  const { agents, warnings } = await loadAgents(await toPlaces(io));
  for (const warning of warnings) await io.stderr.write(toWarningLine(warning));
  return {
    settings: typeof tools === "string" ? { ...settings, tools: toList(tools) } : settings,
    // A server cannot ask a person: a call that needs approval is refused at once.
    runtime: {
      ...toRuntimeOptions(config, { ...io, cwd: settings.responses.root }),
      agents,
      approvalWaitMs: undefined,
      maxPlacedHere: config.get("server.max_subagents"),
    },
    ...(await pick(config, io)),
    sealKey: await openSealKey(settings.storePath, config.paths.dataDir),
    files: toFiles(config, settings, io),
    readSettings: () => toSettingViews(config, createRedact(findSecrets(io.env))),
    runDoctor: () => runDoctor(io),
  };
}

/** Loaded when the first administrator asks. */
async function runDoctor(io: Io): Promise<readonly DoctorCheck[]> {
  const { runChecks } = await import("../doctor-checks.ts");
  const redact = createRedact(findSecrets(io.env));
  return (await runChecks(io)).map((check) => ({ ...check, found: redact(check.found) }));
}

/** Without this check, each tool call would fail later, one by one. */
function requireFolder(root: string, source: string): void {
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory()) return;
  const message = `There is no folder \`${root}\` for tools to work in (\`server.root\`, ${source}).`;
  throw new Failure("invalid_request", message);
}

function toList(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

async function pick(config: Config, io: Io): Promise<PickedServed> {
  const network = createNetwork(io.env);
  try {
    return await pickServed(config, network, io);
  } finally {
    await network.close();
  }
}

/** Includes files that do not exist: if one appears, it is read. */
function toFiles(config: Config, { tls }: ServerSettings, { cwd, home }: Io): string[] {
  const project = projectConfigFile(cwd, home);
  const { clientCa, cert, key } = tls ?? {};
  const named = [config.paths.configFile, config.paths.trustFile, project, cert, key, clientCa];
  return named.filter((file) => file !== undefined);
}

export function toServerProcess(io: Io): ServerProcess {
  const { env } = io;
  const redact = createRedact(findSecrets(env));
  const write = (text: string): void => void io.stderr.write(text);
  const log = createLog("server", {
    setting: env["OFFSHOOT_LOG"],
    clock: systemClock,
    redact,
    write,
  });
  return {
    env,
    log,
    write,
    tell: (line) => write(redact(`offshoot: ${line}\n`)),
    showKey: (token) => io.stdout.write(`${token}\n`),
    onStop: (callback) => io.onInterrupt(callback, { hangups: "terminal" }),
    onReload(callback) {
      const onHangup = createHangup({ onReload: callback });
      process.on("SIGHUP", onHangup);
      return () => void process.off("SIGHUP", onHangup);
    },
    leave: (exitCode) => io.leave(exitCode),
    onDefect: (thrown) => {
      const { code, message, stack } = toFailure(thrown);
      log.error(stack ?? message);
      const what = code === "internal" ? "a request failed by a defect" : "a request failed";
      write(redact(`offshoot: ${what}: ${message.replace(/\s+/g, " ")}\n`));
    },
  };
}
