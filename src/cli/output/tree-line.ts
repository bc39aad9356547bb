/**
 * One line about one run: `├ ● parser [parser-1.0] · read a.ts · 1,234 tokens · $0.02 · 4 s`. If the terminal is too
 * narrow, the label is cut first, then the action; figures and state stay. The selected line keeps its label, so that
 * a person sees whom the keys are for, and loses figures.
 */

import { withThousands } from "../../base/text.ts";
import type { Ending } from "../../protocol/run-events.ts";
import type { Look, StyledSpan } from "../terminal.ts";
import { toShortCount } from "./amounts.ts";
import { clipToWidth, type StyledLine, widthOf } from "./live-block.ts";

/** The state of a run, or its ending. */
export type NodeState = Ending | "running" | "starting" | "stopping" | "queued";

interface Sign {
  readonly sign: string;
  readonly look: Look;
}

const GOOD: Sign = { sign: "✓", look: "good" };
const BAD: Sign = { sign: "✗", look: "bad" };
/** The output is partial, or a person has stopped the run. */
const PARTIAL: Sign = { sign: "–", look: "warn" };
const BUSY: Sign = { sign: "●", look: "busy" };
const WAITING: Sign = { sign: "○", look: "dim" };

export const SIGNS: Readonly<Record<NodeState, Sign>> = {
  completed: GOOD,
  failed: BAD,
  refused: BAD,
  timeout: BAD,
  budget: PARTIAL,
  max_turns: PARTIAL,
  cancelled: PARTIAL,
  stopping: PARTIAL,
  running: BUSY,
  starting: WAITING,
  queued: WAITING,
};

export interface NodeLine {
  /** The lines of the tree to its left. */
  readonly branch: string;
  readonly state: NodeState;
  readonly label: string;
  /** The run's name for commands; shown if there is room. */
  readonly name: string;
  /** The run's present action; empty if there is nothing to say. */
  readonly action: string;
  readonly figures: readonly string[];
  /** Shorter figures, for lines without room for all of them. */
  readonly short: readonly string[];
  readonly isPicked?: boolean | undefined;
}

interface Room {
  readonly columns: number;
  /** True for signs and colours, false for words. */
  readonly isStyled: boolean;
}

/** Numbers are short on a terminal with fewer columns. */
const NARROW = 60;
const LEAST_LABEL = 6;
const LEAST_ACTION = 8;

/** `1,234 tokens`, or `1.2k tok` on a narrow terminal. */
export function toTokens(count: number, columns: number): string {
  return columns < NARROW ? `${toShortCount(count)} tok` : `${withThousands(count)} tokens`;
}

export function toNodeLine(line: NodeLine, { columns, isStyled }: Room): StyledLine {
  const { sign, look } = SIGNS[line.state];
  const head: readonly StyledSpan[] = isStyled
    ? [
        { text: line.branch, look: "dim" },
        { text: `${sign} `, look },
      ]
    : [{ text: `${line.branch}${line.state} ` }];
  const left = columns - head.reduce((sum, { text }) => sum + widthOf(text), 0);
  // The word for its state already says it.
  const said = !isStyled && line.action === line.state ? "" : line.action;
  const { label, name, action, figures } = fit({ ...line, action: said }, left);
  return [
    ...head,
    { text: label, look: line.isPicked ? "bold" : undefined },
    ...(name === "" ? [] : [{ text: ` [${name}]`, look: "dim" as const }]),
    ...(action === "" ? [] : [{ text: ` · ${action}` }]),
    { text: figures.map((figure) => ` · ${figure}`).join(""), look: "dim" },
    ...(line.isPicked && isStyled ? [{ text: " ←", look: "bold" as const }] : []),
  ];
}

type Fitted = Pick<NodeLine, "label" | "name" | "action" | "figures">;

function fit({ label, name, action, figures, short, isPicked }: NodeLine, columns: number): Fitted {
  const room = columns - (isPicked ? 2 : 0);
  const left = (part: Omit<Fitted, "label">): number => room - widthOfAll({ ...part, label: "" });
  const least = isPicked ? widthOf(label) : Math.min(LEAST_LABEL, widthOf(label));
  const named = { name, action, figures };
  if (left(named) >= widthOf(label)) return { ...named, label };
  const bare = { name: "", action: "" };
  const fewer = isPicked ? short.map((_, at) => ({ ...bare, figures: short.slice(at) })) : [];
  const tries: readonly Omit<Fitted, "label">[] = [
    { ...bare, action, figures },
    { ...bare, action: clipToWidth(action, LEAST_ACTION), figures },
    { ...bare, figures },
    ...fewer,
  ];
  const last = { ...bare, figures: isPicked ? [] : short };
  const found = tries.find((part) => left(part) >= least) ?? last;
  const shown = clipToWidth(label, Math.max(1, left(found)));
  // The room that the label leaves is for the action.
  const rest = room - widthOfAll({ ...found, label: shown, action: "" }) - 3;
  const more = found.action === "" ? "" : clipToWidth(action, rest);
  return { ...found, label: shown, action: more };
}

function widthOfAll({ label, name, action, figures }: Fitted): number {
  const parts = [...(action === "" ? [] : [action]), ...figures];
  const bracketed = name === "" ? 0 : widthOf(name) + 3;
  return widthOf(label) + bracketed + parts.reduce((sum, part) => sum + widthOf(part) + 3, 0);
}
