/**
 * Interpreters: `python x.py` goes by the name of its file, as every program does; `python -c`, and
 * `python` whose program comes from its input, cannot be told. Only options that are known to carry no
 * code are let pass.
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

/** Modules that run no code but files and packages by their names. */
const PYTHON_MODULES: ReadonlySet<string> = new Set(
  "pytest unittest pip venv ensurepip json.tool black ruff mypy flake8 isort pylint pyright build compileall py_compile http.server pydoc".split(
    " ",
  ),
);

/** Whether its program is not a file by name; undefined for what is no interpreter. */
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
  // Words of some of them that wait for code, or take more options.
  return isInput(script) || /:|^(?:watch|repl|inspect|debug)$/.test(script);
}

/** Files whose content is what somebody sends, under whatever path one gets there. */
const INPUT_NAME = /^(?:-|stdin|tty\w*|\d+|cmdline|environ)$/;

/** Whether a program that is read from this file comes from the input, and not from a file at all. */
export function isInput(word: string): boolean {
  return isDevice(word) || INPUT_NAME.test(posix.basename(word));
}

export function isDevice(word: string): boolean {
  return /^(?:\.\.\/|\/)+(?:dev|proc)(?:\/|$)/.test(posix.normalize(word));
}

/** A module may be given by an address that holds its code, or by a device. */
function isOddValue(word: string): boolean {
  return /:|\/(?:dev|proc)\/|\bstdin$|\/\d+$/.test(word);
}

/** `-m name`, `-mname` and `-Im name`. */
function isKnownModule(words: readonly string[], at: number): boolean {
  const attached = /^-[^m]*m(.*)$/s.exec(words[at] ?? "")?.[1] ?? "";
  return PYTHON_MODULES.has(attached === "" ? (words[at + 1] ?? "") : attached);
}
