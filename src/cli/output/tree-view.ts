/**
 * The live lines of a tree: the root with the totals, then as many of its runs as fit, those that wait for their
 * start after those that run, then one line for the rest. Lines that are not shown are counted, not made.
 */

import { clip, plural } from "../../base/text.ts";
import type { Queued } from "../../delegation/ledger/queued-children.ts";
import { type RunFigures, toApprovalText } from "../../delegation/ledger/run-figures.ts";
import { type TreeFigures, toNodeName } from "../../delegation/ledger/tree.ts";
import type { WaitReason } from "../../protocol/child-queue.ts";
import { cleanForTerminal } from "../terminal.ts";
import { toElapsed, toMoney, toPartialMoney, toShortCount, toShortMoney } from "./amounts.ts";
import type { StyledLine } from "./live-block.ts";
import type { LiveNode } from "./live-node.ts";
import type { TreeCounts } from "./live-tree.ts";
import { type NodeLine, type NodeState, toNodeLine, toTokens } from "./tree-line.ts";

/** A model usually answers sooner; a longer silence is shown. */
const SILENCE_MS = 5000;
/** The most characters of labels and actions; the width of the terminal cuts them further. */
const SHOWN_CHARS = 80;

export interface TreeView {
  readonly root: LiveNode;
  readonly counts: TreeCounts;
  readonly totals: TreeFigures;
  /** The budget of the tree. */
  readonly limits: { readonly usd: number | undefined; readonly tokens: number | undefined };
  readonly pickedId: string | undefined;
  readonly nowMs: number;
}

export interface TreeArea {
  readonly columns: number;
  /** The most lines. */
  readonly lines: number;
  readonly isStyled: boolean;
}

export function toTreeLines(view: TreeView, room: TreeArea): StyledLine[] {
  const rows = [...listRows(view.root, "", room)];
  const most = Math.max(1, room.lines - 1);
  const isAll = rows.length <= most;
  const first = isAll ? 0 : toFirst(rows, view.pickedId, most - 1);
  const shown = isAll ? rows : rows.slice(first, first + most - 1);
  const narrow = { ...room, columns: toRowColumns(room) };
  return [
    toNodeLine(toRootLine(view, room), room),
    ...shown.map((row) => toNodeLine(toRowLine(row, view, { room: narrow, isAll }), narrow)),
    ...(isAll ? [] : [toMoreLine(rows, shown, room)]),
  ];
}

/**
 * A terminal made half as wide still has room for lines of half its width; terminals below 40 columns are rare.
 */
const ALWAYS_COLUMNS = 79;

function toRowColumns({ columns }: TreeArea): number {
  return Math.min(columns, Math.max(ALWAYS_COLUMNS, Math.floor(columns / 2)));
}

/** A line below the root: a run, or a child that is not started. */
interface Row {
  readonly node: LiveNode | undefined;
  /** Undefined if it has started. */
  readonly queued?: Queued;
  readonly label: string;
  /** The lines of the tree to its left. */
  readonly indent: string;
  readonly isLast: boolean;
}

function* listRows(parent: LiveNode, indent: string, room: TreeArea): Generator<Row> {
  const { queued } = parent;
  let left = parent.open.size + queued.length;
  for (const node of parent.open) {
    const isLast = --left === 0;
    yield { node, label: node.label, indent, isLast };
    const through = room.isStyled && !isLast ? "│ " : "  ";
    yield* listRows(node, `${indent}${through}`, room);
  }
  for (const one of queued) {
    yield { node: undefined, queued: one, label: one.label, indent, isLast: --left === 0 };
  }
}

/** The first shown row, chosen so that the selected one is visible. */
function toFirst(rows: readonly Row[], pickedId: string | undefined, most: number): number {
  const at = pickedId === undefined ? 0 : rows.findIndex(({ node }) => node?.id === pickedId);
  return Math.max(0, Math.min(at - Math.floor(most / 2), rows.length - most));
}

function toMoreLine(
  rows: readonly Row[],
  shown: readonly Row[],
  { isStyled }: TreeArea,
): StyledLine {
  const isQueued = ({ node }: Row): boolean => node === undefined;
  const queued = rows.filter(isQueued).length - shown.filter(isQueued).length;
  const running = rows.length - shown.length - queued;
  const counted = [
    ...(running > 0 ? [`${running} more ${running === 1 ? "runs" : "run"}`] : []),
    ...(queued > 0 ? [`${queued} more ${queued === 1 ? "waits" : "wait"}`] : []),
  ];
  return [{ text: `${isStyled ? "└ " : "  "}and ${counted.join(", ")}`, look: "dim" }];
}

/** The totals of the whole tree. */
function toRootLine(view: TreeView, { columns }: TreeArea): NodeLine {
  const { root, counts, totals, limits, nowMs } = view;
  const tokens = totals.usage.total_tokens;
  const leftUsd = limits.usd === undefined ? undefined : Math.max(0, limits.usd - totals.known_usd);
  const leftTokens = limits.tokens === undefined ? undefined : Math.max(0, limits.tokens - tokens);
  const silence = toSilence(root, nowMs);
  const left = [
    ...(leftUsd === undefined ? [] : [`${toLeft(leftUsd)} left`]),
    ...(leftTokens === undefined ? [] : [`${toTokens(leftTokens, columns)} left`]),
  ];
  const elapsed = toElapsed(nowMs - root.startedAtMs);
  return {
    branch: "",
    state: stateOf(root),
    label: "root",
    name: "",
    action: toRootAction(root, counts),
    figures: [toTokens(tokens, columns), ...toCost(totals), ...left, elapsed, ...silence],
    short: [...toCost(totals, toShortMoney), ...left, silence[0] ?? elapsed],
  };
}

function toLeft(usd: number): string {
  return usd === 0 ? "$0" : toMoney(usd);
}

function toRootAction(root: LiveNode, counts: TreeCounts): string {
  const { running, queued, completed, stopped, failed, refused } = counts;
  if (running + queued === 0) return toAction(root);
  const words: readonly (readonly [number, string])[] = [
    [running, "running"],
    [queued, "queued"],
    [completed, "done"],
    [stopped, "stopped"],
    [failed, "failed"],
    [refused, "not started"],
  ];
  return words.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(", ");
}

interface Placing {
  readonly room: TreeArea;
  readonly isAll: boolean;
}

function toRowLine(row: Row, { pickedId, nowMs }: TreeView, { room, isAll }: Placing): NodeLine {
  const { node, queued, label, indent, isLast } = row;
  // If a line says how many more there are, that one is the last below the root.
  const isEnd = isLast && (isAll || indent !== "");
  const isPicked = node !== undefined && node.id === pickedId;
  const plain = isPicked ? "> " : "  ";
  const branch = `${indent}${room.isStyled ? (isEnd ? "└ " : "├ ") : plain}`;
  const shown = { branch, label: toShown(label) };
  const none = { figures: [], short: [] };
  if (node?.isEnded) {
    return { ...shown, state: stateOf(node), name: node.name, action: "", ...none };
  }
  if (!node) {
    const name = queued?.id ? toNodeName(queued.id) : "";
    return { ...shown, state: "queued", name, action: toWait(queued?.why ?? null), ...none };
  }
  const { figures } = node;
  const { total_tokens: tokens } = figures.usage;
  const silence = toSilence(node, nowMs);
  const elapsed = toElapsed(nowMs - node.startedAtMs);
  return {
    ...shown,
    state: stateOf(node),
    name: node.name,
    action: toAction(node),
    figures: [toTokens(tokens, room.columns), ...toCost(figures), elapsed, ...silence],
    short: [toShortCount(tokens), ...toCost(figures, toShortMoney), silence[0] ?? elapsed],
    isPicked,
  };
}

function stateOf({ isEnded, ending, isStopping, figures }: LiveNode): NodeState {
  if (isEnded) return ending ?? "failed";
  if (isStopping) return "stopping";
  return figures.started_at_ms === null ? "starting" : "running";
}

/** A parent that waits for its children shows that, whatever it did last. */
function toAction({ isEnded, isStopping, open, queued, figures }: LiveNode): string {
  if (isEnded) return "";
  if (isStopping) return "stopping";
  const approval = toApprovalText(figures);
  if (approval !== undefined) return toShown(approval);
  const children = open.size + queued.length;
  if (children > 0) return `waits for ${plural(children, "subagent")}`;
  const { started_at_ms, last_action } = figures;
  return started_at_ms === null ? "starting" : toShown(last_action);
}

/** Only for a run that itself waits for a model or a tool. */
function toSilence(node: LiveNode, nowMs: number): string[] {
  // A run that waits for a person says that instead.
  const isAsking = node.figures.questions.length > 0;
  const isWaiting =
    node.waitsFor !== undefined && !isAsking && node.open.size + node.queued.length === 0;
  const silentMs = nowMs - node.heardAtMs;
  return isWaiting && silentMs > SILENCE_MS ? [`silent ${toElapsed(silentMs)}`] : [];
}

/** Before the first answer no cost is known. */
function toCost(
  { usage, known_usd, unknown_calls }: Pick<RunFigures, "usage" | "known_usd" | "unknown_calls">,
  toText = toPartialMoney,
): string[] {
  const isKnown = usage.total_tokens > 0 || unknown_calls > 0;
  return isKnown ? [toText(known_usd, unknown_calls)] : [];
}

/** `queued for a place`: that it waits, and for what if the log says so. */
export function toWait(why: WaitReason | null): string {
  return why === null ? "queued" : `queued for ${WAIT_WORDS[why]}`;
}

const WAIT_WORDS: Readonly<Record<WaitReason, string>> = {
  place: "a place",
  process: "a process",
  budget: "budget",
};

/** Labels and arguments come from a model: each is cleaned separately, on one line. */
export function toShown(text: string): string {
  return clip(cleanForTerminal(text), SHOWN_CHARS);
}
