/**
 * The answers of subagents, read from the results of the tools that ask them, and the number in each
 * answer. If a number may be incomplete, there is none: a total must not be less than it seems.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Share } from "./shares.ts";
import { isRefusal, parseResult, textIn } from "./tool-results.ts";

export interface ChildAnswer {
  readonly label: string;
  /** The text of the answer; empty if it failed. */
  readonly text: string;
  /** The reason why it failed; undefined if it succeeded. */
  readonly problem: string | undefined;
  /** True if the answer is complete. */
  readonly isWhole: boolean;
  readonly number: string | undefined;
}

/** The result of one `subagent` call. */
export function readEnvelope(share: Share, output: string): ChildAnswer {
  const result = parseResult(output);
  if (!result || typeof result["success"] !== "boolean") return toFailed(share, output);
  const { metadata } = result;
  const status = isJsonObject(metadata) ? textIn(metadata, "completion_status") : "";
  return toAnswer(share, result, status);
}

/** The result of one `parallel_subagent` call, which has one of its own for each task. */
export function readResults(shares: readonly Share[], output: string): ChildAnswer[] {
  const results: Json = parseResult(output)?.["results"] ?? null;
  if (!Array.isArray(results)) return shares.map((share) => toFailed(share, output));
  return shares.map((share) => {
    const result = results.find((one) => isJsonObject(one) && one["label"] === share.label);
    if (!isJsonObject(result)) return toFailed(share, "There is no result for it.");
    return toAnswer(share, result, textIn(result, "completion_status"));
  });
}

/** The result of one `call_subagent` call, which is plain text. */
export function readWords(share: Share, output: string): ChildAnswer {
  if (isRefusal(output) || output.trim() === "") return toFailed(share, output);
  return toFinished(share, output);
}

function toAnswer(share: Share, result: JsonObject, status: string): ChildAnswer {
  if (result["success"] !== true) return toFailed(share, textIn(result, "error"));
  const answer = toFinished(share, textIn(result, "output"));
  return status === "complete" ? answer : { ...answer, isWhole: false, number: undefined };
}

function toFinished({ label, prompt }: Share, output: string): ChildAnswer {
  const text = output.trim();
  const number = findNumber(text, prompt);
  return { label, text, problem: undefined, isWhole: true, number };
}

function toFailed({ label }: Share, output: string): ChildAnswer {
  const problem = output.trim().replace(/^Error:\s*/i, "") || "It gave no reason.";
  return { label, text: "", problem, isWhole: false, number: undefined };
}

/** Words that say that something could not be done, or only in part. */
const UNSURE =
  /\bgave no result\b|\bwas denied\b|\bnot offered\b|\bdo not understand\b|\bonly the first \d+ of\b|\bnot read:/i;
const UNITS = /\b(lines?|files?|folders?|director(?:y|ies)|entries|words?|matches|results?)\b/i;
const NUMBER = "(?<![\\w.,-])(-?(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?)(?![\\w%]|[.,]\\d)";
const WORDS = "(?:[a-z+#.]+\\s+){0,3}";

/** The number in an answer to a prompt: the count that the prompt asked for, or the only number. */
export function findNumber(text: string, prompt: string): string | undefined {
  if (UNSURE.test(text)) return undefined;
  const plain = text.replace(/```.*?```|`[^`]*`|"[^"]*"/gs, " x ");
  const [, result] = new RegExp(`=\\s*${NUMBER}\\s*\\.?$`).exec(plain) ?? [];
  const [unit] = UNITS.exec(prompt) ?? [];
  const counted = unit === undefined ? [] : countsOf(plain, unit);
  const found =
    counted.length > 0
      ? counted
      : [...plain.matchAll(new RegExp(NUMBER, "g"))].map(([, one = ""]) => one);
  const numbers = new Set(
    (result === undefined ? found : [result]).map((one) => one.replaceAll(",", "")),
  );
  const [only] = numbers;
  return numbers.size === 1 ? only : undefined;
}

/** "340 lines", "2 Markdown files", "no files". */
function countsOf(text: string, unit: string): string[] {
  const noun = unit.toLowerCase().replace(/(?:ies|y|s)$/, "");
  const counted = new RegExp(`(?:${NUMBER}|\\b(no))\\s+${WORDS}${noun}(?:s|es|y|ies)?\\b`, "gi");
  return [...text.matchAll(counted)].map(([, number]) => number ?? "0");
}
