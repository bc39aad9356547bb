/**
 * Rules for interpreters: `python x.py` is judged by the name of its file, like every program. `python -c`,
 * and `python` with a program from its input, are not readable. Only options that are known to carry no
 * code are accepted.
 */

import { posix } from "node:path";
import { type OptionTable, skipOptions } from "./options.ts";

interface Interpreter extends OptionTable {
  readonly name: RegExp;
  /** An option with which it needs no file. */
  readonly instead?: RegExp;
}

const INTERPRETERS: readonly Interpreter[] = [
  { name: /^(?:python|pypy)[\d.]*$/, flags: "bBdEIOPqsSux", values: "WX", ends: "m" },
  {
    name: /^(?:node|nodejs|tsx|ts-node)$/,
    flags: "c",
    values: "rC",
    long: "check test watch enable-source-maps no-warnings no-deprecation trace-warnings trace-deprecation trace-uncaught expose-gc preserve-symlinks experimental-strip-types experimental-transform-types experimental-vm-modules experimental-test-coverage experimental-sqlite test-only import= require= loader= conditions= env-file= run= max-old-space-size= stack-trace-limit= test-name-pattern= test-reporter= test-reporter-destination= test-concurrency= test-timeout= tsconfig=",
    instead: /^--(?:test|run)(?:=|$)/,
  },
  { name: /^perl[\d.]*$/, flags: "wWtTcsSUX", values: "I" },
  { name: /^ruby[\d.]*$/, flags: "wcS", values: "IrC" },
  { name: /^php[\d.]*$/, flags: "nl", values: "S" },
  { name: /^(?:lua[\d.]*|luajit)$/, flags: "E", values: "l" },
  { name: /^rscript$/, long: "vanilla no-save no-restore" },
  { name: /^(?:julia|groovy|scala|elixir|ghc|swift|raku|tclsh|guile|racket|sbcl|erl)$/ },
];

/** Modules that only run files and packages that their words name. */
const PYTHON_MODULES: ReadonlySet<string> = new Set(
  "pytest unittest pip venv ensurepip json.tool black ruff mypy flake8 isort pylint pyright build compileall py_compile http.server pydoc".split(
    " ",
  ),
);

/** True if the interpreter's program is not a named file; undefined if the program is not an interpreter. */
export function isInterpreterOpaque(name: string, words: readonly string[]): boolean | undefined {
  const interpreter = INTERPRETERS.find((one) => one.name.test(name));
  if (!interpreter) return undefined;
  const rest = words.slice(1);
  if (rest.length === 1 && /^(?:--version|--help|-V|-h)$/.test(rest[0] ?? "")) return false;
  const { end, isKnown, isEnded } = skipOptions(interpreter, words);
  const options = words.slice(1, end);
  if (!isKnown || options.some(isOddValue)) return true;
  if (isEnded) return !isKnownModule(words, end);
  const script = words[end];
  if (script === undefined) return !options.some((word) => interpreter.instead?.test(word));
  // Words with which some interpreters read code, or take more options.
  return isInput(script) || /:|^(?:watch|repl|inspect|debug)$/.test(script);
}

/** Files whose content comes from another process, under any path. */
const INPUT_NAME = /^(?:-|stdin|tty\w*|\d+|cmdline|environ)$/;

/** True if a program that is read from this file comes from the input, and not from a stored file. */
export function isInput(word: string): boolean {
  return isDevice(word) || INPUT_NAME.test(posix.basename(word));
}

export function isDevice(word: string): boolean {
  return /^(?:\.\.\/|\/)+(?:dev|proc)(?:\/|$)/.test(posix.normalize(word));
}

/** A module may be an address that contains its code, or a device. */
function isOddValue(word: string): boolean {
  return /:|\/(?:dev|proc)\/|\bstdin$|\/\d+$/.test(word);
}

/** True for `-m name`, `-mname` and `-Im name` with a known module. */
function isKnownModule(words: readonly string[], at: number): boolean {
  const attached = /^-[^m]*m(.*)$/s.exec(words[at] ?? "")?.[1] ?? "";
  return PYTHON_MODULES.has(attached === "" ? (words[at + 1] ?? "") : attached);
}
