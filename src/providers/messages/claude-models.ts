/**
 * Thinking and length limits of the models of the Messages API, by their names.
 *
 * Before 4.6, thinking is a budget of tokens. From then on the model decides (`adaptive`), guided by an
 * effort; from 5 on it thinks unless that is turned off, which not every model allows.
 * https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting has the list.
 */

import type { Quirks } from "../wire.ts";
import type { MessagesEffort } from "./schema.ts";

export interface ClaudeModel {
  readonly thinking: "adaptive" | "budget" | "none";
  /** True if it thinks without being asked to. */
  readonly thinksByItself: boolean;
  /** How thinking is turned off; `undefined` if it cannot be, and the lowest effort is used instead. */
  readonly off: "disabled" | "between_tools" | undefined;
  /** The accepted values of `output_config.effort`, weakest first. */
  readonly efforts: readonly MessagesEffort[];
  /** The default length of an answer, which leaves room for the input of 200,000 tokens. */
  readonly usualTokens: number;
  /** The largest length of an answer. */
  readonly maxTokens: number;
  /** True if thinking between calls needs a beta feature of its own. */
  readonly needsInterleaving: boolean;
}

export function claudeModelOf(name: string, { thinking }: Quirks = {}): ClaudeModel {
  const model = modelOf(name);
  return thinking === undefined ? model : { ...model, thinking };
}

const ALL_EFFORTS: readonly MessagesEffort[] = ["low", "medium", "high", "xhigh", "max"];

const NEWEST: ClaudeModel = {
  thinking: "adaptive",
  thinksByItself: true,
  off: undefined,
  efforts: ALL_EFFORTS,
  usualTokens: 32_000,
  maxTokens: 128_000,
  needsInterleaving: false,
};
const CLAUDE_5: ClaudeModel = { ...NEWEST, off: "disabled" };
const CLAUDE_47: ClaudeModel = { ...CLAUDE_5, thinksByItself: false };
const CLAUDE_46: ClaudeModel = {
  ...CLAUDE_47,
  efforts: ["low", "medium", "high", "max"],
  maxTokens: 64_000,
};
const CLAUDE_45: ClaudeModel = {
  ...CLAUDE_46,
  thinking: "budget",
  efforts: [],
  needsInterleaving: true,
};
const CLAUDE_35: ClaudeModel = {
  ...CLAUDE_45,
  thinking: "none",
  usualTokens: 8192,
  maxTokens: 8192,
  needsInterleaving: false,
};
/** A server that only offers the same API: it most likely knows the older form of thinking. */
const OTHER: ClaudeModel = {
  ...CLAUDE_45,
  thinksByItself: true,
  usualTokens: 16_384,
  maxTokens: 32_768,
  needsInterleaving: false,
};

function modelOf(name: string): ClaudeModel {
  if (!name.includes("claude")) return OTHER;
  const named = /claude-(opus|sonnet|haiku)-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(name);
  if (named) {
    const [, family = "", major = "", minor = "0"] = named;
    return namedModel(family, Number(major) + Number(minor) / 10);
  }
  const old = /claude-(?:v|instant|\d)/.test(name);
  if (!old) return NEWEST;
  if (name.includes("claude-3-7")) return { ...CLAUDE_45, needsInterleaving: false };
  return name.includes("claude-3-5")
    ? CLAUDE_35
    : { ...CLAUDE_35, usualTokens: 4096, maxTokens: 4096 };
}

function namedModel(family: string, version: number): ClaudeModel {
  if (version > 5 && family === "sonnet") return { ...NEWEST, off: "between_tools" };
  if (version > 5 && family === "opus") return NEWEST;
  if (version >= 5) return CLAUDE_5;
  if (version >= 4.7) return CLAUDE_47;
  if (version >= 4.6) return CLAUDE_46;
  if (family !== "opus") return CLAUDE_45;
  if (version >= 4.5) return { ...CLAUDE_45, efforts: ["low", "medium", "high"] };
  return { ...CLAUDE_45, maxTokens: 32_000 };
}
