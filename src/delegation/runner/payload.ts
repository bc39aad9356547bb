/**
 * The document that the runner reads. Ten fields are a complete one (`payload-fields.ts`); all others may be left out,
 * and unknown fields are ignored.
 */

import { type Limits, NO_LIMITS } from "../../agent/limits.ts";
import { OUTPUT_MODES, toOutputFormat } from "../../agent/output-mode.ts";
import {
  COMPACT_MODES,
  type CompactMode,
  THINKING_EFFORTS,
  type ThinkingEffort,
} from "../../agent/task.ts";
import { toFailure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { findOptionsProblem } from "../../protocol/own-options.ts";
import type { ToldPart } from "../../protocol/told-part.ts";
import type { OutputFormat } from "../../providers/provider.ts";
import { APPROVALS, type Approval } from "../../tools/gate/decide.ts";
import type { Grant } from "../../tools/gate/grant.ts";
import { SANDBOX_LEVELS, type SandboxLevel } from "../../tools/sandbox/sandbox.ts";
import { createReader, invalid, type Reader } from "./payload-reader.ts";

export interface Payload {
  readonly model: string;
  /** True if no model was chosen, here and above: the embedded one fills no schema then. */
  readonly fell_back: boolean;
  readonly provider: string | null;
  readonly url: string | null;
  readonly api_key_name: string | null;
  readonly prompt: string;
  readonly system_prompt: string | null;
  /** The parts of the instructions; undefined if they are one text. */
  readonly told: readonly ToldPart[] | undefined;
  readonly tool_subset: readonly string[];
  readonly think: boolean;
  readonly effort: ThinkingEffort | undefined;
  readonly temperature: number | null;
  readonly max_tokens: number | null;

  /** The conversation that it continues, with the prompt as its last message; the prompt alone when left out. */
  readonly items: readonly Item[] | undefined;
  /** The vendor's own fields for its model calls. */
  readonly options: JsonObject | null;
  readonly label: string | null;
  readonly depth: number;
  readonly max_turns: number | undefined;
  readonly timeout_ms: number | undefined;
  readonly limits: Partial<Limits>;
  /** Upper bound for the limits if the parent can be asked for more; undefined if not. */
  readonly ceiling: Partial<Limits> | undefined;
  readonly summary_prompt: string | null;
  /** True if the report's prompt is sent with the task, without a turn of its own. */
  readonly report_along: boolean;
  /** The required form of its answer. */
  readonly format: OutputFormat;
  readonly on_throw: "tell_model" | "end";
  /** The behaviour when the conversation nears the model's window; the setting when left out. */
  readonly compact: CompactMode | undefined;
  readonly approve: Approval | undefined;
  readonly sandbox: SandboxLevel | undefined;
  readonly root: string | undefined;
  /** Left out by a person, who may do everything; with it, everything in `SIGNED_FIELDS` is signed. */
  readonly grant: Grant | undefined;
  /** The parent's rules for all tool calls, and for all its delegation. Used only with a grant. */
  readonly safety: JsonObject | undefined;
  readonly delegation: JsonObject | undefined;
  /** The run's place in the record of its parent, and where that is. */
  readonly run: RunPlace | undefined;
  readonly store_path: string | undefined;
  /** True to send the parent what the run would ask a person. */
  readonly asks: boolean;
  /** Leave out the frames of tool calls. */
  readonly brief: boolean;
  /** End with a frame that has the run's ending. */
  readonly report: boolean;
}

/** The place of a run in a tree that another process began. */
export interface RunPlace {
  readonly id: string;
  readonly parent_id: string;
  readonly path: string;
  /** True if its parent answers what it asks. */
  readonly can_ask?: boolean | undefined;
}

/** Throws `Failure("invalid_request")` that names the field. */
export function parsePayload(document: JsonObject): Payload {
  const read = createReader(document);
  return {
    model: read.needed("model"),
    fell_back: read.flag("fell_back"),
    provider: read.text("provider") ?? null,
    url: read.text("url") ?? null,
    api_key_name: readVariable(read.text("api_key_name")),
    prompt: read.needed("prompt"),
    items: readItems(document["items"]),
    system_prompt: read.text("system_prompt") ?? null,
    told: readTold(document["told"]),
    tool_subset: read.texts("tool_subset") ?? [],
    think: read.flag("think"),
    effort: read.word("effort", THINKING_EFFORTS),
    temperature: read.number("temperature", { min: 0, max: 2 }) ?? null,
    max_tokens: read.integer("max_tokens", { min: 1 }) ?? null,
    options: readOptions(read),
    label: read.text("label") ?? null,
    depth: read.integer("depth", { min: 0, max: 10 }) ?? 0,
    max_turns: read.integer("max_turns", { min: 1, max: 1000 }),
    timeout_ms: read.integer("timeout_ms", { min: 1 }),
    limits: readLimits(read, "limits") ?? {},
    ceiling: readLimits(read, "ceiling"),
    summary_prompt: read.text("summary_prompt") ?? null,
    report_along: read.flag("report_along"),
    format: readFormat(read),
    on_throw: read.word("on_throw", ["end", "tell_model"]) ?? "end",
    compact: read.word("compact", COMPACT_MODES),
    approve: read.word("approve", APPROVALS),
    sandbox: read.word("sandbox", Object.keys(SANDBOX_LEVELS) as SandboxLevel[]),
    root: read.text("root"),
    grant: readGrant(document["grant"]),
    safety: read.object("safety"),
    delegation: read.object("delegation"),
    run: readPlace(read.object("run")),
    store_path: read.text("store_path"),
    asks: read.flag("asks"),
    brief: read.flag("brief"),
    report: read.flag("report"),
  };
}

/** The message does not show the value: a person may have put the key itself here, and no log must have it. */
function readVariable(name: string | undefined): string | null {
  if (name === undefined || /^[A-Za-z_]\w*$/.test(name)) return name ?? null;
  throw invalid("`api_key_name` must be the name of an environment variable, not a key");
}

function readOptions(read: Reader): JsonObject | null {
  const options = read.object("options");
  const problem = options && findOptionsProblem(options);
  if (problem) throw invalid(`\`options\` ${problem}`);
  return options ?? null;
}

/** `schema` is another name of `output_schema`. */
function readFormat(read: Reader): OutputFormat {
  const output_schema = read.object("output_schema") ?? read.object("schema");
  const output_mode = read.word("output_mode", OUTPUT_MODES);
  try {
    return toOutputFormat({ output_mode, output_schema }, "report");
  } catch (thrown) {
    throw invalid(toFailure(thrown).message.replace(/\.$/, ""));
  }
}

function readLimits(read: Reader, name: string): Partial<Limits> | undefined {
  const given = read.object(name);
  if (!given) return undefined;
  const fields = Object.keys(NO_LIMITS).flatMap((kind) => {
    const limit = given[kind];
    if (limit === undefined) return [];
    if (limit === null || (typeof limit === "number" && limit >= 0)) return [[kind, limit]];
    throw invalid(`\`${name}.${kind}\` must be a number of 0 or more`);
  });
  return Object.fromEntries(fields);
}

/** Signed by one of our processes, so it is trusted; only that it is a list of layers is checked. */
function readGrant(given: Json | undefined): Grant | undefined {
  if (given === undefined || given === null) return undefined;
  if (Array.isArray(given) && given.every(isJsonObject)) return given as Grant;
  throw invalid("`grant` must be a list of layers");
}

/** Reads the parts of the instructions, in the form of another child's record. */
function readTold(given: Json | undefined): readonly ToldPart[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (Array.isArray(given) && given.every(isToldPart)) return given as unknown as ToldPart[];
  throw invalid("`told` must be a list of parts with `part`, `source`, `at` and `chars`");
}

function isToldPart(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { part, source, at, chars } = value;
  const isPlaced = [at, chars].every(
    (number) => Number.isSafeInteger(number) && Number(number) >= 0,
  );
  return typeof part === "string" && typeof source === "string" && isPlaced;
}

function readItems(given: Json | undefined): readonly Item[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (Array.isArray(given) && given.length > 0 && given.every(isItem)) return given as Item[];
  throw invalid("`items` must be a list of items");
}

function isItem(value: Json): boolean {
  return isJsonObject(value) && typeof value["type"] === "string";
}

function readPlace(given: JsonObject | undefined): RunPlace | undefined {
  if (!given) return undefined;
  const { id, parent_id, path, can_ask } = given;
  if (typeof id === "string" && typeof parent_id === "string" && typeof path === "string") {
    return { id, parent_id, path, ...(can_ask === true ? { can_ask } : {}) };
  }
  throw invalid("`run` must have `id`, `parent_id` and `path`");
}
