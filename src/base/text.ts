/** Small pure functions over text: clipping for messages, byte-exact cuts, plurals. */

/**
 * Shortens a text for a message, on one line, with `…` where something was cut. Reads no further than it
 * shows: the text may be a stranger's, of megabytes.
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

/** Counts what it leaves out, and never hides the end: the worst of a command may stand there. */
export function hideMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const hidden = text.length - 2 * half;
  return `${text.slice(0, half)} [… ${hidden} characters are not shown …] ${text.slice(-half)}`;
}

/** The longest prefix of at most `maxChars`; a character of two units that the cut falls into goes whole. */
export function cutToChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "");
}

/** The longest prefix of `text` that is at most `maxBytes` of UTF-8 and cuts no character. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // 10xxxxxx bytes continue a character: step back to the byte that starts it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

/** Lines of at most so many characters; a word that is longer than a line stays whole. */
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

/** By hand: the first use of the runtime's own formatting loads its tables, for 15 ms. */
export function withThousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `$0.31`, `$0.0042`: as much of an amount as a person reads, in a sentence. */
export function toRoundUsd(usd: number): string {
  return `$${usd > 0 && usd < 0.01 ? Number(usd.toPrecision(2)) : usd.toFixed(2)}`;
}

/**
 * `$0.31`, `$0.0310`, `$0.0042`: to a hundredth of a cent, without two zeros at its end, so that amounts
 * of one table can be compared. From a dollar on cents are enough.
 */
export function toUsd(usd: number): string {
  return `$${usd < 1 ? usd.toFixed(4).replace(/00$/, "") : usd.toFixed(2)}`;
}

/** The known name closest to a mistyped one, or none when nothing is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(2, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
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
