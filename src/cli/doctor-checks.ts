/**
 * The checks of `offshoot doctor`, one function each. None of them leaves a change, shows the value of a key, or asks
 * a server on another machine.
 */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdtemp, rmdir, stat } from "node:fs/promises";
import { release } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { toFailure } from "../base/failure.ts";
import { keyIn, usesStored } from "../base/stored-keys.ts";
import { clip, plural } from "../base/text.ts";
import { readTrustedBundle } from "../providers/http/ca-bundles.ts";
import { variableIn } from "../providers/http/own-fields.ts";
import { chooseModel, keyVariableIn } from "../providers/models/choose-model.ts";
import { CATALOG, VENDOR_NAMES, vendorOf } from "../providers/vendors/catalog.ts";
import {
  createProbe,
  findLocalServer,
  type LocalServer,
  originsIn,
} from "../providers/vendors/local-servers.ts";
import { withoutPassword } from "../runtime/config/address-text.ts";
import { type Config, loadConfig } from "../runtime/config/config.ts";
import { toStoreAddress } from "../runtime/config/store-address.ts";
import { catalogOf } from "../runtime/model-address.ts";
import { createNetwork } from "../runtime/network.ts";
import { projectConfigFile, userPaths } from "../runtime/paths.ts";
import { JOURNAL_VERSION } from "../store/journal-version.ts";
import { isPostgres, openKept } from "../store/open-kept.ts";
import { toHooks } from "../tools/hooks/hook.ts";
import {
  probeGaps,
  probeSandbox,
  type SandboxGaps,
  type SandboxProbe,
} from "../tools/sandbox/probe-sandbox.ts";
import { VERSION } from "../version.ts";
import { broken, type DoctorCheck, type DoctorSurroundings, gap, ok } from "./doctor-check.ts";
import {
  checkAliases,
  checkKeyStore,
  checkNotes,
  checkStoredKeys,
  checkTemplates,
} from "./doctor-files.ts";
import type { Io } from "./io.ts";

/** Runs them in the order in which they are shown. */
export async function runChecks(around: DoctorSurroundings): Promise<DoctorCheck[]> {
  const [config, configChecks] = await checkConfig(around);
  const server = config?.get("probe_local") === false ? undefined : await findServer(around);
  const groups = await Promise.all([
    checkVersions(process.version),
    configChecks,
    checkKeys(around, config),
    checkStoredKeys(around),
    checkKeyStore(around, config),
    checkVendors(around, config),
    checkServer(config, server),
    checkModel(around, config, server),
    checkAliases(config),
    checkTemplates(around),
    checkNotes(around, config),
    checkRipgrep(),
    checkSandbox(around.env),
    probeGaps().then(checkGaps),
    checkProgram(
      around,
      "python3",
      "Install Python 3 for `python: host`; without it Python runs in WebAssembly.",
    ),
    checkHooks(around, config),
    checkData(around, config),
    checkSqlite(),
    checkProxies(around),
    checkAuthorities(around),
  ]);
  return groups.flat();
}

export function checkVersions(nodeVersion: string): DoctorCheck[] {
  const [major = 0, minor = 0] = nodeVersion.slice(1).split(".").map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  return [
    ok("offshoot", VERSION),
    isOld ? broken("node", nodeVersion, "Install Node 20.19 or newer.") : ok("node", nodeVersion),
    ok("system", `${process.platform} ${release()}, ${process.arch}`),
  ];
}

async function checkConfig(
  around: DoctorSurroundings,
): Promise<[Config | undefined, DoctorCheck[]]> {
  try {
    const config = await loadConfig(around);
    const project = projectConfigFile(around.cwd, around.home);
    const hasUser = await canAccess(config.paths.configFile, constants.R_OK);
    const files = [
      hasUser ? config.paths.configFile : `no ${config.paths.configFile}`,
      project ?? "no project file",
    ];
    const warnings = config.warnings.map((warning) => gap("config", warning, undefined));
    return [config, [ok("config", files.join("; ")), ...warnings]];
  } catch (thrown) {
    const advice = "Fix the file: every command fails until then.";
    return [undefined, [broken("config", toFailure(thrown).message, advice)]];
  }
}

/** The keys of our vendors and of those of the settings. */
export function checkKeys({ env }: DoctorSurroundings, config?: Config): DoctorCheck {
  const catalog = config ? catalogOf(config) : CATALOG;
  const vendors = [...VENDOR_NAMES, ...catalog.own];
  const set = vendors.flatMap((vendor) => keyVariableIn(vendor, env, catalog) ?? []);
  const named = [...new Set(set)].map((name) =>
    usesStored(env, name) ? `${name} (stored)` : name,
  );
  if (named.length > 0) return ok("keys", named.join(", "));
  const { keyVariable, keyUrl } = vendorOf("openai");
  return gap(
    "keys",
    "none set",
    `Get one (${keyUrl}) and store it with \`offshoot auth set openai\`, or put it in \`${keyVariable}\`, or use a local server.`,
  );
}

/** The vendors of the settings, and the variables that they need and that are not set. */
function checkVendors({ env }: DoctorSurroundings, config: Config | undefined): DoctorCheck[] {
  if (!config) return [];
  const catalog = catalogOf(config);
  return catalog.own.map((vendor): DoctorCheck => {
    const { baseUrl, keyVariable, fields } = catalog.of(vendor);
    const headers = Object.values(fields?.headers ?? {}).flatMap((text) => variableIn(text) ?? []);
    const needed = [...(keyVariable === undefined ? [] : [keyVariable]), ...headers];
    const missing = needed.find((name) => keyIn(env, name) === undefined);
    const name = `vendor ${vendor}`;
    if (missing === undefined) return ok(name, baseUrl);
    return gap(name, `\`${missing}\` is not set`, `Put its value there: ${baseUrl} needs it.`);
  });
}

async function findServer({ env }: DoctorSurroundings): Promise<LocalServer | undefined> {
  const network = createNetwork(env);
  try {
    const probe = createProbe(await network.open());
    return await findLocalServer({ probe, origins: originsIn(env) });
  } catch {
    // The CA bundle cannot be read; its own check says so.
    return undefined;
  } finally {
    await network.close().catch(() => {});
  }
}

function checkServer(config: Config | undefined, server: LocalServer | undefined): DoctorCheck {
  const name = "local server";
  if (server) return ok(name, `${server.vendor} at ${server.baseUrl}, ${server.model}`);
  if (config?.get("probe_local") === false)
    return ok(name, "not looked for (`probe_local` is off)");
  return gap(
    name,
    "none found",
    "Start Ollama, llama.cpp's server, LM Studio or vLLM to use a model on this machine.",
  );
}

async function checkModel(
  { env }: DoctorSurroundings,
  config: Config | undefined,
  server: LocalServer | undefined,
): Promise<DoctorCheck> {
  const value = config?.get("model");
  try {
    const { reason } = await chooseModel({
      explicit:
        value === undefined ? undefined : { value, source: config?.sourceOf("model") ?? "" },
      otherwise: config?.get("url") === undefined ? undefined : "custom",
      catalog: config && catalogOf(config),
      env,
      findLocal: async () => server,
    });
    return ok("model", reason);
  } catch (thrown) {
    const from = config?.sourceOf("model");
    return broken("model", toFailure(thrown).message, `Change \`model\` (${from}).`);
  }
}

async function checkRipgrep(): Promise<DoctorCheck> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    const { stdout } = await promisify(execFile)(rgPath, ["--version"], { env: {}, timeout: 5000 });
    return ok("ripgrep", clip(stdout.split("\n")[0] ?? "", 80));
  } catch (thrown) {
    const reason = clip(toFailure(thrown).message, 120);
    return broken("ripgrep", reason, "Install Offshoot again, with optional packages.");
  }
}

/** Really starts one: that a program is installed does not mean that the system lets it work. */
export async function checkSandbox(
  env: Io["env"],
  probe: (env: Io["env"]) => Promise<SandboxProbe> = probeSandbox,
): Promise<DoctorCheck> {
  const { levels, problem } = await probe(env);
  const found = `${levels.join(", ")} available`;
  return problem === undefined ? ok("sandbox", found) : gap("sandbox", found, problem);
}

/** Checks what each sandbox level means for this user, and what this machine enforces only in part. */
export function checkGaps({ isRoot, hasFilter, hasGroup }: SandboxGaps): DoctorCheck[] {
  const user = isRoot
    ? gap(
        "user",
        "root",
        "Commands at the levels `none` and `process` can change the whole machine; at `sandbox` they cannot, but they own the workspace's files. Run as another user where you can.",
      )
    : ok("user", "not root");
  const filter = hasFilter
    ? ok("system calls", `filtered in the sandbox (${process.arch})`)
    : gap("system calls", `no filter for ${process.arch}`, "The rest of the sandbox works.");
  const limits = hasGroup
    ? ok("hosted limits", "enforced by a control group, and measured")
    : ok("hosted limits", "measured ten times a second; no control group (cgroup v2) is available");
  return process.platform === "linux" ? [user, filter, limits] : [user];
}

/** Missing programs of hooks: calls that they guard are denied. A line for `sh` is not examined. */
export async function checkHooks(
  around: DoctorSurroundings,
  config: Config | undefined,
): Promise<DoctorCheck[]> {
  const checks: DoctorCheck[] = [];
  for (const { name, argv } of toHooks(config?.get("hooks") ?? {})) {
    const [program] = argv;
    const isPath = program.startsWith("/");
    const found = isPath
      ? await canAccess(program, constants.X_OK)
      : (await checkProgram(around, program, "")).status === "ok";
    if (found) continue;
    const advice =
      "Install it, or remove the hook: the calls that it guards are denied until then.";
    checks.push(broken("hooks", `hook \`${name}\`: there is no program \`${program}\``, advice));
  }
  return checks;
}

async function checkProgram(
  { env }: DoctorSurroundings,
  program: string,
  advice: string,
): Promise<DoctorCheck> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    const file = join(folder, program);
    if (folder !== "" && (await canAccess(file, constants.X_OK))) return ok(program, file);
  }
  return gap(program, `\`${program}\` is not on the PATH`, advice);
}

/** Checks the nearest folder that exists: the missing ones are made when a run is first stored. */
async function checkData(
  { home, env }: DoctorSurroundings,
  config: Config | undefined,
): Promise<DoctorCheck> {
  const address = config && toStoreAddress(config, env);
  if (address !== undefined && isPostgres(address)) return await checkDatabase(address);
  const own = config?.get("store_path");
  // The folder does not depend on the settings, so it is known even if their file cannot be read.
  const { dataDir } = config?.paths ?? userPaths(env, home);
  const folder = own === undefined ? dataDir : dirname(own);
  let at = folder;
  while (at !== dirname(at) && !(await canAccess(at, constants.F_OK))) at = dirname(at);
  const isFolder = (await stat(at)).isDirectory();
  const isWritable = await canAccess(at, constants.W_OK);
  if (isFolder && isWritable && (at === folder || (await canMakeFolder(at)))) {
    return await checkRecord(own ?? config?.paths.runsFile ?? join(folder, "runs.db"), folder);
  }
  const problem = isFolder ? "cannot be written to" : "is not a folder";
  return broken(
    "data",
    `${at} ${problem}`,
    "Fix that, set `OFFSHOOT_DATA` to another folder, or run with --no-store.",
  );
}

/**
 * Tried and removed again: some file systems refuse new folders without reporting it in advance.
 */
async function canMakeFolder(at: string): Promise<boolean> {
  try {
    await rmdir(await mkdtemp(join(at, ".offshoot-")));
    return true;
  } catch {
    return false;
  }
}

/** Opened and read as every command does. A record that does not exist yet is not created. */
async function checkRecord(file: string, folder: string): Promise<DoctorCheck> {
  if (!(await canAccess(file, constants.F_OK))) return ok("data", folder);
  try {
    await (await openKept(file)).maintenance.probe();
    return ok("data", folder);
  } catch (thrown) {
    const reason = clip(toFailure(thrown).message, 120);
    return broken(
      "data",
      `${file} cannot be opened: ${reason}`,
      "Every command that keeps or reads runs fails. Restore a backup, or move the file away.",
    );
  }
}

async function checkDatabase(address: string): Promise<DoctorCheck> {
  const name = withoutPassword(address);
  const kept = await openKept(address);
  try {
    await kept.maintenance.refuseDamaged(0);
    await kept.maintenance.checkWritable();
    const found = `${name}, Postgres ${await kept.maintenance.version()}`;
    const unfinished = await (await kept.record()).listUnfinished();
    const newer = unfinished.filter(({ journal }) => journal > JOURNAL_VERSION).length;
    if (newer === 0) return ok("data", found);
    const left = `${plural(newer, "unfinished run")} of a newer Offshoot`;
    return gap("data", `${found}; ${left}`, "This version leaves them alone: update it.");
  } catch (thrown) {
    return broken(
      "data",
      clip(toFailure(thrown).message, 160),
      "Every command that keeps or reads runs fails.",
    );
  } finally {
    await kept.close();
  }
}

async function checkSqlite(): Promise<DoctorCheck> {
  try {
    const { maintenance } = await openKept("sqlite:");
    return ok("sqlite", await maintenance.version());
  } catch (thrown) {
    const reason = clip(toFailure(thrown).message, 120);
    return broken("sqlite", reason, "Install Offshoot again, or run with --no-store.");
  }
}

const PROXY_VARIABLES = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];

/** Only the names of variables: a proxy's address may contain a password. */
export function checkProxies({ env }: DoctorSurroundings): DoctorCheck {
  const names = PROXY_VARIABLES.flatMap((name) => [name, name.toUpperCase()]);
  const set = names.filter((name) => env[name]);
  return ok("proxies", set.length > 0 ? set.join(", ") : "none set");
}

/**
 * The first of the two variables replaces the system's authorities; Node's own variable only adds to them.
 */
export function checkAuthorities({ env }: DoctorSurroundings): DoctorCheck {
  const name = "certificates";
  const bundle = ["SSL_CERT_FILE", "CURL_CA_BUNDLE"].find((variable) => env[variable]);
  const extra = ["NODE_EXTRA_CA_CERTS"].filter((variable) => env[variable]);
  const used = [...(bundle === undefined ? [] : [bundle]), ...extra];
  if (used.length === 0) return ok(name, "Node.js's own certificates, then the system's");
  try {
    readTrustedBundle(env);
    return ok(name, used.map((variable) => `${env[variable]} (${variable})`).join(", "));
  } catch (thrown) {
    return broken(name, toFailure(thrown).message, "Correct the variable, or unset it.");
  }
}

async function canAccess(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
