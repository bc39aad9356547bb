/**
 * The system's keyring, through its own command: `secret-tool` (Secret Service) on Linux, `security` (Keychain) on
 * macOS. A secret is written to the command's standard input and read from its standard output; it is never an
 * argument, which every process of the machine may read.
 */

import { spawn } from "node:child_process";
import { isAbsolute } from "node:path";
import type { Environment } from "../../base/environment.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { findProgram } from "../../tools/sandbox/programs.ts";

export interface Keyring {
  /** The keyring's name for people. */
  readonly name: string;
  /** True if it answers: a program that is installed may have no keyring to talk to. */
  answers(): Promise<boolean>;
  /** Undefined if it has no such key. Rejects with one line if it does not answer. */
  read(variable: string): Promise<string | undefined>;
  write(variable: string, key: string): Promise<void>;
  remove(variable: string): Promise<void>;
}

/** The service name of the entries. */
const SERVICE = "offshoot";

/** Looked up to see whether the keyring answers; never written. */
const PROBE = "offshoot-probe";

/** Undefined if this system has no such command. */
export function findKeyring(env: Environment, platform: string): Keyring | undefined {
  const name = { darwin: "/usr/bin/security", linux: "secret-tool" }[platform];
  const program = name && findOnPath(name, env);
  if (!program) return undefined;
  const run: AskKeyring = (words, input) => ask(program, words, { input, env });
  return platform === "darwin" ? createKeychain(run) : createSecretService(run);
}

interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type AskKeyring = (words: readonly string[], input?: string) => Promise<Answer>;

/** `lookup` of a missing key ends with 1 and says nothing; if no keyring answers, it says why. */
export function createSecretService(run: AskKeyring): Keyring {
  const where = (variable: string): string[] => ["service", SERVICE, "variable", variable];
  return {
    name: "the keyring (secret-tool)",
    async answers() {
      const { code, stderr } = await run(["lookup", ...where(PROBE)]).catch(() => SILENT);
      return code === 0 || (code === 1 && stderr.trim() === "");
    },
    async read(variable) {
      const answer = await run(["lookup", ...where(variable)]);
      if (answer.code === 0) return answer.stdout.trim() || undefined;
      if (answer.code === 1 && answer.stderr.trim() === "") return undefined;
      throw noAnswer(answer);
    },
    async write(variable, key) {
      const label = `--label=Offshoot: ${variable}`;
      const answer = await run(["store", label, ...where(variable)], key);
      if (answer.code !== 0) throw noAnswer(answer);
    },
    async remove(variable) {
      const answer = await run(["clear", ...where(variable)]);
      if (answer.code !== 0 && answer.stderr.trim() !== "") throw noAnswer(answer);
    },
  };
}

/** The exit code of `security` for a missing item. */
const NOT_FOUND = 44;

/**
 * With `-i` it takes its commands from standard input, so that the secret, as hexadecimal, is not an argument of any
 * process. It may end with 0 although the command failed; so what was written is read again.
 */
export function createKeychain(run: AskKeyring): Keyring {
  const where = (variable: string): string[] => ["-s", SERVICE, "-a", variable];
  const read: Keyring["read"] = async (variable) => {
    const answer = await run(["find-generic-password", ...where(variable), "-w"]);
    if (answer.code === 0) return answer.stdout.trim() || undefined;
    if (answer.code === NOT_FOUND) return undefined;
    throw noAnswer(answer);
  };
  return {
    name: "the keychain (security)",
    async answers() {
      const { code } = await run(["find-generic-password", ...where(PROBE)]).catch(() => SILENT);
      return code === 0 || code === NOT_FOUND;
    },
    read,
    async write(variable, key) {
      const hex = Buffer.from(key).toString("hex");
      const line = `add-generic-password -U ${where(variable).join(" ")} -X ${hex}\n`;
      const answer = await run(["-i"], line);
      if ((await read(variable)) !== key) throw noAnswer(answer);
    },
    async remove(variable) {
      const answer = await run(["delete-generic-password", ...where(variable)]);
      if (answer.code !== 0 && answer.code !== NOT_FOUND) throw noAnswer(answer);
    },
  };
}

const SILENT: Answer = { code: null, stdout: "", stderr: "" };

function noAnswer({ code, stderr }: Answer): Failure {
  const said =
    clip(stderr.replace(/\s+/g, " ").trim(), 160) || `it ended with ${code ?? "a signal"}`;
  const advice = "Unlock it, or use files: `offshoot config set key_store file`.";
  return new Failure("key_missing", `The system's keyring does not answer: ${said}. ${advice}`);
}

/** A person may have to type a password into the keyring's own window. */
const PATIENCE_MS = 30_000;

interface Asked {
  readonly input: string | undefined;
  readonly env: Environment;
}

/** The variables with which the command finds the keyring and its window, without secrets. */
const NAMES = [
  ...["HOME", "USER", "LOGNAME", "LANG", "PATH", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"],
  ...["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "GNOME_KEYRING_CONTROL"],
];

function ask(program: string, words: readonly string[], { input, env }: Asked): Promise<Answer> {
  const known = NAMES.flatMap((name): [string, string][] => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, {
      env: Object.fromEntries(known),
      cwd: "/",
      stdio: "pipe",
      timeout: PATIENCE_MS,
    });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (piece: string) => {
        said[name] = (said[name] + piece).slice(0, 64 * 1024);
      });
    }
    // A command that ends at once reads nothing.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...said }));
  });
}

/** A relative folder of `PATH` could make a file of the project into the keyring. */
function findOnPath(name: string, env: Environment): string | undefined {
  const folders = (env["PATH"] ?? "").split(":").filter((folder) => isAbsolute(folder));
  return findProgram(name, folders.join(":"), "/");
}
