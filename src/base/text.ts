/** Small pure functions over text: clipping for messages, cutting to a number of bytes, plurals. */

/**
 * Shortens a text for a message, on one line, with `…` where something is missing. Reads no further than it
 * shows: the text may be megabytes of a stranger.
 */
export function clip(text: string, maxChars: number): string {
  let line = "";
  let gap = "";
  for (const [part] of text.matchAll(/\s+|\S{1,500}/g)) {
    if (/^\s/.test(part)) gap = line && " ";
    else {
      line += gap + part;
      gap = "";
    }
    if (line.length > maxChars) return `${cutToChars(line, maxChars - 1)}…`;
  }
  return line;
}

/**
 * Shortens a text in its middle, and says how much is missing. The end stays: the worst part of a command
 * may be there.
 */
export function hideMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const hidden = text.length - 2 * half;
  return `${text.slice(0, half)} [… ${hidden} characters are not shown …] ${text.slice(-half)}`;
}

/** The longest prefix of at most `maxChars` that splits no character. */
export function cutToChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "");
}

/** The longest prefix of `text` that is at most `maxBytes` of UTF-8 and splits no character. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // 10xxxxxx bytes continue a character: step back to the byte that starts it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

/**
 * Breaks a text into lines of at most `columns` characters; a word that is longer than a line stays whole.
 */
export function breakAtWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && longer.length > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * A number with thousands separators. Written by hand: the first use of the runtime's own formatting loads
 * its tables, which takes 15 ms.
 */
export function withThousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** An amount rounded for a sentence: `$0.31`, `$0.0042`. */
export function toRoundUsd(usd: number): string {
  return `$${usd > 0 && usd < 0.01 ? Number(usd.toPrecision(2)) : usd.toFixed(2)}`;
}

/**
 * An amount to a hundredth of a cent, without two zeros at its end, so that the amounts of one table can be
 * compared: `$0.31`, `$0.0310`, `$0.0042`. From a dollar on, cents are enough.
 */
export function toUsd(usd: number): string {
  return `$${usd < 1 ? usd.toFixed(4).replace(/00$/, "") : usd.toFixed(2)}`;
}

/** The known name closest to a mistyped one; undefined if none is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  return nearestFew(name, known)[0];
}

/** Those of the known names that are as near as the nearest one, in their order; three at most. */
export function nearestFew(name: string, known: Iterable<string>): string[] {
  let best: string[] = [];
  let bestDistance = Math.max(2, Math.floor(name.length / 3));
  for (const candidate of new Set(known)) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) best = [];
    if (distance <= bestDistance) best.push(candidate);
    bestDistance = Math.min(distance, bestDistance);
  }
  return best.slice(0, 3);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
