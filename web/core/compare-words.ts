/** Compares two texts word by word, by the longest common sequence. Pure. */

export interface WordPiece {
  readonly text: string;
  readonly of: "a" | "b" | "both";
}

/** If the product of both counts is larger, the middles are shown as replaced. */
const MAX_CELLS = 2_000_000;

export function compareWords(a: string, b: string): WordPiece[] {
  const left = toWords(a);
  const right = toWords(b);
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const middles = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  return join([
    ...left.slice(0, start).map((text): WordPiece => ({ text, of: "both" })),
    ...compareMiddles(middles[0] ?? [], middles[1] ?? []),
    ...left.slice(left.length - end).map((text): WordPiece => ({ text, of: "both" })),
  ]);
}

/** Each word with the blanks after it, so that joining them gives the text. */
function toWords(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function compareMiddles(a: readonly string[], b: readonly string[]): WordPiece[] {
  if (a.length * b.length > MAX_CELLS) {
    return [
      { text: a.join(""), of: "a" },
      { text: b.join(""), of: "b" },
    ];
  }
  const at = measure(a, b);
  const pieces: WordPiece[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && left === right) {
      pieces.push({ text: left, of: "both" });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      pieces.push({ text: left, of: "a" });
      i++;
    } else {
      pieces.push({ text: right ?? "", of: "b" });
      j++;
    }
  }
  return pieces;
}

/** The length of the common sequence from a position of each side on. */
function measure(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}

/** Joins adjacent pieces of one side. */
function join(pieces: readonly WordPiece[]): WordPiece[] {
  const joined: { text: string; of: WordPiece["of"] }[] = [];
  for (const { text, of } of pieces) {
    const last = joined.at(-1);
    if (last?.of === of) last.text += text;
    else joined.push({ text, of });
  }
  return joined;
}
