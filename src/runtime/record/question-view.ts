/** A question that waits for a person, as the API shows it. Pure. */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { cutToChars } from "../../base/text.ts";
import type { QuestionRow } from "../../store/run-index.ts";
import { rootOf } from "../../store/run-notes.ts";
import type { QuestionView } from "./views.ts";

/** The size of the arguments and of the diff: a person reads them. */
const MAX_CHARS = 64 * 1024;

export function toQuestionView(row: QuestionRow, title: string): QuestionView {
  const { body, run_id, question, at_ms, until_ms, closed_at_ms, verdict } = row;
  const text = (field: string): string => {
    const value = body[field];
    return typeof value === "string" ? value : "";
  };
  const always = body["always"];
  return {
    object: "run.question",
    run_id,
    root_id: rootOf(run_id),
    question,
    at_ms,
    until_ms,
    title,
    call_id: text("call_id"),
    tool: text("name"),
    arguments: cutToChars(text("arguments"), MAX_CHARS),
    effect: text("effect"),
    reason: text("reason"),
    sandbox: text("sandbox"),
    always: Array.isArray(always) ? always.filter((rule) => typeof rule === "string") : [],
    asker: body["asker"] ?? null,
    diff: toDiff(tryParseJson(text("arguments"))),
    closed_at_ms,
    verdict,
    decided: row.reason,
  };
}

/** For calls that replace a text, or write a file: the removed and added lines. */
function toDiff(given: Json | undefined): string | null {
  if (!isJsonObject(given)) return null;
  const path = pick(given, ["path", "file_path", "file"]);
  const before = pick(given, ["old_text", "old_string", "old_str", "old"]);
  const after = pick(given, ["new_text", "new_string", "new_str", "new", "content"]);
  const patch = pick(given, ["patch", "diff"]);
  if (patch !== undefined) return cutToChars(patch, MAX_CHARS);
  if (path === undefined || after === undefined) return null;
  const lines = [`--- ${path}`, `+++ ${path}`];
  if (before !== undefined) lines.push(...before.split("\n").map((line) => `-${line}`));
  lines.push(...after.split("\n").map((line) => `+${line}`));
  return cutToChars(lines.join("\n"), MAX_CHARS);
}

function pick(given: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = given[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}
