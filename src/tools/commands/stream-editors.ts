/** Rules for `sed` and `awk`, whose programs are small enough to be read if they only print and replace. */

import { isInput } from "./interpreters.ts";
import { isLongOption } from "./options.ts";

/** True for a program that pipes, writes or calls the system, or is read from the input. */
export function isAwkOpaque(rest: readonly string[]): boolean {
  const isFromInput = rest.some((word, at) => {
    const file = /^(?:-[a-zA-Z]*f|--f[a-z]*=)(.*)$/s.exec(word)?.[1];
    return file !== undefined && isInput(file === "" ? (rest[at + 1] ?? "-") : file);
  });
  if (isFromInput || rest.some((word) => isLongOption("exec include load", word))) return true;
  return rest.some((word) => /system|[|>]|getline|@|^-[a-zA-Z]*[eilEW]/.test(word));
}

/** Without the delimiter in brackets: programs differ on whether it ends the pattern there. */
const SED_ADDRESS = String.raw`(?:\d+|\$|/(?:\\.|\[[^\]/]+\]|[^\\/[])*/)`;
const SED_REPLACEMENT = String.raw`s([^\w\s\\[])(?:\\.|\[(?:(?!\1)[^\]])+\]|(?!\1)[^\\[])*\1(?:\\.|(?!\1)[^\\])*\1[gpiIM\d]*`;
const SED_COMMAND = new RegExp(
  `^(?:${SED_ADDRESS}(?:,(?:${SED_ADDRESS}|\\+\\d+))?!?)?(?:[pdqDPNnGgHhx=]|${SED_REPLACEMENT})$`,
  "s",
);

const SED_SCRIPT = /^(-[nErsuz]*e|--expression(?:=|$))(.*)$/s;
const SED_LONG =
  /^--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|sandbox|in-place(?:=.*)?)$/s;

/** True unless the script is known to only print, drop and replace lines: `e` and `w` run and write. */
export function isSedOpaque(rest: readonly string[]): boolean {
  if (rest.length === 1 && /^--(?:version|help)$/.test(rest[0] ?? "")) return false;
  const scripts = readSedScripts(rest);
  return (
    !scripts?.length ||
    !scripts.every((script) => script.split(/[;\n]/).every((one) => SED_COMMAND.test(one.trim())))
  );
}

/** The scripts of the options, otherwise the first word; undefined if an option is not known. */
function readSedScripts(rest: readonly string[]): readonly string[] | undefined {
  const scripts: string[] = [];
  const others: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    const [, option, script = ""] = SED_SCRIPT.exec(word) ?? [];
    if (option === undefined) others.push(word);
    else if (script !== "" || option.endsWith("=")) scripts.push(script);
    else scripts.push(rest[++at] ?? "");
  }
  const words = others.filter((word) => !word.startsWith("-"));
  if (others.length > words.length && !others.every(isSedKnown)) return undefined;
  return scripts.length > 0 ? scripts : words.slice(0, 1);
}

function isSedKnown(word: string): boolean {
  return /^(?!-)|^-[nErsuz]+$|^-[nErsuz]*i[\w.~]*$/.test(word) || SED_LONG.test(word);
}
