/** Writes figures for people: short, with a unit, the same everywhere. */

const DAY_MS = 86_400_000;

export function toMoney(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "unknown";
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  return usd < 100 ? `$${usd.toFixed(2)}` : `$${Math.round(usd).toLocaleString("en")}`;
}

/** If the price of some calls is not known, the known part. */
export function toCost(totals: {
  readonly cost_usd: number | null;
  readonly known_usd: number;
}): string {
  if (totals.cost_usd !== null) return toMoney(totals.cost_usd);
  return totals.known_usd > 0 ? `≥ ${toMoney(totals.known_usd)}` : "unknown";
}

export function toCount(count: number | null | undefined): string {
  if (count === null || count === undefined) return "–";
  if (count < 10_000) return count.toLocaleString("en");
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 100_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function toDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  if (ms < DAY_MS) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / 3_600_000)} h`;
}

export function toBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return "–";
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
  return `${(bytes / 1024 ** 3).toFixed(2)} GB`;
}

/** `14:03:22` today, `Nov 16 14:03` before. The exact time belongs in a `title`. */
export function toTime(at: number | string | null | undefined, now = Date.now()): string {
  if (at === null || at === undefined) return "–";
  const date = new Date(at);
  const clock = date.toLocaleTimeString("en-GB");
  if (now - date.getTime() < DAY_MS && new Date(now).getDate() === date.getDate()) return clock;
  return `${date.toLocaleDateString("en", { month: "short", day: "numeric" })} ${clock.slice(0, 5)}`;
}

export function toExactTime(at: number | string | null | undefined): string {
  return at === null || at === undefined ? "" : new Date(at).toISOString();
}

export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** `3 min ago`, `in 2 h`: for a quick look. */
export function toAgo(at: number | null | undefined, now = Date.now()): string {
  if (at === null || at === undefined) return "never";
  const ms = now - at;
  if (Math.abs(ms) < 1000) return "now";
  const span = toSpan(Math.abs(ms));
  return ms > 0 ? `${span} ago` : `in ${span}`;
}

function toSpan(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

export function plural(count: number, noun: string): string {
  return `${toCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function toPercent(part: number, all: number): string {
  return all === 0 ? "0 %" : `${Math.round((part / all) * 100)} %`;
}
