/** A terminal's screen as a picture: one text element for each row, so that it can be searched and copied. */

import type { StyledPiece } from "../../test/cli/output/terminal-screen.ts";

export interface ScreenPicture {
  readonly title: string;
  readonly rows: readonly (readonly StyledPiece[])[];
  readonly columns: number;
  /** The position of the cursor, from 0; left out if none is visible. */
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
}

/** Each terminal defines its sixteen colours; these are legible on the picture's background. */
const COLOURS: Readonly<Record<number, string>> = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  34: "#79c0ff",
  35: "#d2a8ff",
  36: "#76e3ea",
};
const TEXT = "#e6edf3";
const DIM = "#8b949e";
const GROUND = "#0d1117";
const CHARACTER = 7.8;
const LINE = 18;
const MARGIN = 14;

export function toSvg({ title, rows, columns, cursor }: ScreenPicture): string {
  const width = columns * CHARACTER + 2 * MARGIN;
  const height = rows.length * LINE + 2 * MARGIN;
  const lines = rows.map((pieces, at) => {
    const spans = pieces.map(toSpan).join("");
    return `<text x="${MARGIN}" y="${MARGIN + 13 + at * LINE}">${spans}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${toXml(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${GROUND}"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" fill="${TEXT}">`,
    ...lines,
    ...(cursor ? [toCursor(cursor)] : []),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function toCursor({ row, column }: NonNullable<ScreenPicture["cursor"]>): string {
  const x = MARGIN + column * CHARACTER;
  const y = MARGIN + row * LINE;
  return `<rect x="${x}" y="${y}" width="${CHARACTER}" height="${LINE - 2}" fill="${TEXT}" opacity="0.8"/>`;
}

function toSpan({ text, isDim, isBold, colour }: StyledPiece): string {
  const fill = COLOURS[colour ?? 0] ?? (isDim ? DIM : TEXT);
  const weight = isBold ? ' font-weight="bold"' : "";
  // Non-breaking blanks: viewers join plain ones, whatever the picture says.
  const shown = toXml(text).replaceAll(" ", "\u00a0");
  return `<tspan fill="${fill}"${weight}>${shown}</tspan>`;
}

function toXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
