/** A string format: how to recognize it and find it in a text, and a sample value for when nothing is known. */

interface Format {
  /** The source of a regular expression for one value. */
  readonly pattern: string;
  /** A valid value without content. */
  readonly sample: string;
}

const DATE = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";
const TIME = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)";
const HOST =
  "(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*";
const BYTE = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";

const FORMATS: Readonly<Record<string, Format>> = {
  date: { pattern: DATE, sample: "1970-01-01" },
  time: { pattern: TIME, sample: "00:00:00Z" },
  "date-time": { pattern: `${DATE}[Tt]${TIME}`, sample: "1970-01-01T00:00:00Z" },
  duration: { pattern: "P(?!$)(?:\\d+[YMWD])*(?:T(?:\\d+[HMS])+)?", sample: "P0D" },
  email: { pattern: `[A-Za-z0-9._%+-]+@${HOST}`, sample: "unknown@example.com" },
  uri: {
    pattern: "[a-z][a-z0-9+.-]*://[^\\s\"'<>`]+[^\\s\"'<>`.,;:!?)]",
    sample: "https://example.com/",
  },
  hostname: { pattern: HOST, sample: "example.com" },
  ipv4: { pattern: `(?:${BYTE}\\.){3}${BYTE}`, sample: "0.0.0.0" },
  ipv6: { pattern: "(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}", sample: "::1" },
  uuid: {
    pattern: "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    sample: "00000000-0000-4000-8000-000000000000",
  },
};

const ALIASES: Readonly<Record<string, string>> = {
  url: "uri",
  "uri-reference": "uri",
  iri: "uri",
};

/** An unknown format is a note, not a rule. */
export function fitsFormat(format: string, value: string): boolean {
  const { pattern } = lookUp(format) ?? {};
  return pattern === undefined || new RegExp(`^(?:${pattern})$`).test(value);
}

export function sampleFormat(format: string): string | undefined {
  return lookUp(format)?.sample;
}

/** Every value of that format in a text, in the text's order. */
export function findFormat(format: string, text: string): string[] {
  const { pattern } = lookUp(format) ?? {};
  // A host name has no form of its own: every word would match.
  if (pattern === undefined || format === "hostname") return [];
  const found = [...text.matchAll(new RegExp(pattern, "g"))].map(([value]) => value);
  if (format === "date") found.push(...findWrittenDates(text));
  if (format === "date-time" && found.length === 0) {
    found.push(...findFormat("date", text).map((date) => `${date}T00:00:00Z`));
  }
  return found;
}

function lookUp(format: string): Format | undefined {
  const name = ALIASES[format] ?? format;
  return Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** "5 May 2024" and "May 5, 2024" as dates. */
function findWrittenDates(text: string): string[] {
  const month = `(${MONTHS.join("|")})[a-z]*\\.?`;
  const dayFirst = new RegExp(
    `\\b(\\d{1,2})(?:st|nd|rd|th)?\\s+(?:of\\s+)?${month},?\\s+(\\d{4})\\b`,
    "gi",
  );
  const monthFirst = new RegExp(`\\b${month}\\s+(\\d{1,2})(?:st|nd|rd|th)?,?\\s+(\\d{4})\\b`, "gi");
  return [
    ...[...text.matchAll(dayFirst)].map(([, day, name, year]) => toDate(year, name, day)),
    ...[...text.matchAll(monthFirst)].map(([, name, day, year]) => toDate(year, name, day)),
  ];
}

function toDate(year = "", month = "", day = ""): string {
  const number = MONTHS.indexOf(month.toLowerCase().slice(0, 3)) + 1;
  return `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}`;
}
