/**
 * Tells a person who looks elsewhere that the chat waits: the bell, and the notification that the terminal knows.
 */

import type { Io } from "../io.ts";
import { toOneLine } from "../terminal.ts";

/** The person has waited for a run that answers sooner. */
export const LONG_MS = 10_000;

/** Inside tmux and screen only the bell: they show it by the window's name, and drop the rest. */
export function toNotification(text: string, env: Io["env"]): string {
  const words = toOneLine(text).replaceAll(";", ",");
  const isInside = env["TMUX"] !== undefined || (env["TERM"] ?? "").startsWith("screen");
  if (isInside) return BELL;
  const program = env["TERM_PROGRAM"] ?? "";
  if (OSC_9.has(program) || env["KITTY_WINDOW_ID"] || env["WT_SESSION"])
    return `\x1b]9;${words}${BELL}`;
  const knows777 = env["VTE_VERSION"] !== undefined || /^(foot|rxvt)/.test(env["TERM"] ?? "");
  return knows777 ? `\x1b]777;notify;offshoot;${words}\x1b\\${BELL}` : BELL;
}

const BELL = "\x07";
const OSC_9: ReadonlySet<string> = new Set(["iTerm.app", "WezTerm", "ghostty"]);
