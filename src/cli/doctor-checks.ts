/**
 * Runs the checks of `offshoot doctor`, and has those of the machine: programs, sandbox, proxies. No check leaves a
 * change, shows the value of a key, or asks a server on another machine.
 */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { release } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { toFailure } from "../base/failure.ts";
import { clip } from "../base/text.ts";
import { readTrustedBundle } from "../providers/http/ca-bundles.ts";
import { type Config, loadConfig } from "../runtime/config/config.ts";
import { projectConfigFile } from "../runtime/paths.ts";
import { toHooks } from "../tools/hooks/hook.ts";
import {
  probeGaps,
  probeSandbox,
  type SandboxGaps,
  type SandboxProbe,
} from "../tools/sandbox/probe-sandbox.ts";
import { VERSION } from "../version.ts";
import { broken, type DoctorCheck, type DoctorSurroundings, gap, ok } from "./doctor-check.ts";
import { canAccess, checkData, checkSqlite } from "./doctor-data.ts";
import {
  checkAliases,
  checkKeyStore,
  checkNotes,
  checkStoredKeys,
  checkTemplates,
} from "./doctor-files.ts";
import { checkKeys, checkModel, checkServer, checkVendors, findServer } from "./doctor-models.ts";
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
