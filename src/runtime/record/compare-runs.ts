/** Compares two logs: the start of each run, its turns and its calls, aligned by name and order. Pure. */

import { createHash } from "node:crypto";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import type { ComparedRow, ComparedSide } from "./views.ts";

/** How many characters of a step a row shows. */
const TEXT_CHARS = 300;
/** Above this product of lengths steps are compared index by index: the table of an alignment would take seconds. */
const MAX_CELLS = 4_000_000;

export interface RunStep extends ComparedSide {
  readonly kind: ComparedRow["kind"];
  readonly name: string;
  /** A hash of everything that counts: ids and times do not. */
  readonly digest: string;
}

/** Call it with each event of a log in order; `steps` are what it has read so far. Keeps no bodies. */
export function createStepReader(): {
  read(logged: LoggedEvent): void;
  readonly steps: readonly RunStep[];
} {
  const steps: RunStep[] = [];
  let turn: { readonly seq: number; readonly turn: number; said: string[] } | undefined;
  const add = (step: Omit<RunStep, "text" | "digest">, said: string): void => {
    const digest = createHash("sha256").update(said).digest("base64");
    steps.push({ ...step, text: clip(said, TEXT_CHARS), digest });
  };
  return {
    steps,
    read({ seq, event }) {
      if (event.type === "turn_start") turn = { seq, turn: event.turn, said: [] };
      if (event.type === "item_end") turn?.said.push(toWords(event.item));
      if (event.type === "turn_end" && turn) {
        add({ kind: "turn", name: "turn", seq: turn.seq }, turn.said.join("\n"));
        turn = undefined;
      }
      const other = toOther(event);
      if (other) add({ ...other, seq }, other.said);
    },
  };
}

/** The steps of a log that is in memory. */
export function readSteps(log: readonly LoggedEvent[]): readonly RunStep[] {
  const reader = createStepReader();
  for (const logged of log) reader.read(logged);
  return reader.steps;
}

function toOther(
  event: RunEvent,
): { readonly kind: RunStep["kind"]; readonly name: string; readonly said: string } | undefined {
  switch (event.type) {
    case "run_start": {
      const { model, instructions, tools } = event.settings;
      const given = [model, instructions ?? "", tools.join(" "), ...event.input.map(toWords)];
      return { kind: "input", name: "input", said: given.join("\n") };
    }
    case "run_input":
      return { kind: "input", name: "message", said: event.items.map(toWords).join("\n") };
    case "tool_end":
      return { kind: "call", name: event.name, said: toWords(event.item) };
    case "run_end":
      return { kind: "ending", name: "ending", said: `${event.ending}\n${event.output_text}` };
    default:
      return undefined;
  }
}

/** The content of an item, without its ids. */
function toWords(item: Item): string {
  if (item.type === "message") {
    const { content } = item;
    if (typeof content === "string") return content;
    return content.map((part) => textOfPart(part) ?? "").join("");
  }
  if (item.type === "function_call") return `${item.name}(${item.arguments})`;
  return JSON.stringify(item, (key, value: unknown) => (IDS.has(key) ? undefined : value));
}

const IDS: ReadonlySet<string> = new Set(["id", "call_id", "encrypted_content", "status"]);

export function compareSteps(
  a: readonly RunStep[],
  b: readonly RunStep[],
): { readonly rows: readonly ComparedRow[]; readonly first_difference: number | null } {
  const rows = align(a, b).map(([left, right]) => toRow(left, right));
  const first = rows.findIndex(({ state }) => state !== "same");
  return { rows, first_difference: first < 0 ? null : first };
}

type Pair = readonly [RunStep | undefined, RunStep | undefined];

function toRow(a: RunStep | undefined, b: RunStep | undefined): ComparedRow {
  const { kind = "turn", name = "" } = a ?? b ?? {};
  const state =
    a === undefined
      ? "only_b"
      : b === undefined
        ? "only_a"
        : a.digest === b.digest
          ? "same"
          : "different";
  return { kind, name, state, a: toSide(a), b: toSide(b) };
}

function toSide(step: RunStep | undefined): ComparedSide | null {
  return step ? { seq: step.seq, text: step.text } : null;
}

/** The longest common sequence of names; among equal names, those with the same content score higher. */
function align(a: readonly RunStep[], b: readonly RunStep[]): Pair[] {
  const start = countSame(a, b);
  const left = a.slice(start);
  const right = b.slice(start);
  const same = a.slice(0, start).map((step, at): Pair => [step, b[at]]);
  if (left.length * right.length > MAX_CELLS) return [...same, ...pairUp(left, right)];
  return [...same, ...walk(left, right, score(left, right))];
}

function countSame(a: readonly RunStep[], b: readonly RunStep[]): number {
  let at = 0;
  while (at < a.length && at < b.length && isSameStep(a[at], b[at])) at++;
  return at;
}

function isSameStep(a: RunStep | undefined, b: RunStep | undefined): boolean {
  return a !== undefined && a.kind === b?.kind && a.name === b.name && a.digest === b.digest;
}

function pairUp(a: readonly RunStep[], b: readonly RunStep[]): Pair[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, at): Pair => [a[at], b[at]]);
}

/** The score of two aligned steps: 0 if they differ in kind or name. */
function worth(a: RunStep, b: RunStep): number {
  if (a.kind !== b.kind || a.name !== b.name) return 0;
  return a.digest === b.digest ? 3 : 2;
}

/** `table[i * width + j]`: the best score for everything from `i` of a and `j` of b on. */
function score(a: readonly RunStep[], b: readonly RunStep[]): Uint32Array {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const left = a[i];
      const right = b[j];
      const paired = left && right ? worth(left, right) : 0;
      const both = paired > 0 ? paired + (table[(i + 1) * width + j + 1] ?? 0) : 0;
      const either = Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
      table[i * width + j] = Math.max(both, either);
    }
  }
  return table;
}

function walk(a: readonly RunStep[], b: readonly RunStep[], table: Uint32Array): Pair[] {
  const width = b.length + 1;
  const best = (i: number, j: number): number => table[i * width + j] ?? 0;
  const pairs: Pair[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    const paired = left && right ? worth(left, right) : 0;
    if (left && right && paired > 0 && best(i, j) === paired + best(i + 1, j + 1)) {
      pairs.push([left, right]);
      i++;
      j++;
    } else if (left && (!right || best(i + 1, j) >= best(i, j + 1))) {
      pairs.push([left, undefined]);
      i++;
    } else {
      pairs.push([undefined, right]);
      j++;
    }
  }
  return pairs;
}
