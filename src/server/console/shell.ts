/**
 * The console's own files: a page without data, a script and a style sheet, made by `npm run build` into
 * `dist/console`. Every address below `/console/` that names none of these files gives the page, which reads the rest
 * of its address itself.
 */

import { readdirSync, readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";

export interface ShellFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Addresses that answer with the page. The page reads the rest of its address itself, for example a run's id.
 */
export const CONSOLE_PATHS: readonly string[] = [
  "",
  "/:a",
  "/:a/:b",
  "/:a/:b/:c",
  "/:a/:b/:c/:d",
].map((depth) => `/console${depth}`);

/** As seen from the bundles (`dist/bin`, `dist/lib`) and from the compiler's output. */
const PLACES = ["../console/", "../../console/", "../../../../dist/console/"];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".webmanifest": "application/manifest+json",
};

/**
 * Allows only our own script files, no scripts made from text, and no page of another site around it.
 */
export const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const SHELL_HEADERS = {
  "content-security-policy": CONTENT_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** Shown if the package was built without the console. */
const PLACEHOLDER = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Offshoot console</title>
<h1>The console is not built</h1>
<p>Run <code>npm run build</code> in the folder of Offshoot, then load this page again.</p>
</html>
`;

/**
 * Serves files by their names. They are read at the first request, because most servers never show the page.
 */
export function createShell(
  folder: string | undefined = findFolder(),
): (path: string) => ShellFile {
  const files = new Map<string, ShellFile>();
  const names = new Set(folder === undefined ? [] : readdirSync(folder));
  const read = (name: string): ShellFile => {
    const known = files.get(name);
    if (known) return known;
    const file = toFile(name, readFileSync(`${folder}/${name}`));
    files.set(name, file);
    return file;
  };
  return (path) => {
    const name = basename(path);
    // Only names in the folder are served, so a path cannot lead anywhere else.
    if (names.has(name) && extname(name) in TYPES) return read(name);
    return names.has("index.html")
      ? read("index.html")
      : toFile("index.html", Buffer.from(PLACEHOLDER));
  };
}

function toFile(name: string, bytes: Uint8Array): ShellFile {
  const type = TYPES[extname(name)] ?? "application/octet-stream";
  // The content of a file with a hash in its name never changes.
  const isHashed = /[-.][\w-]{8,}\.\w+$/.test(name) && name !== "index.html";
  const cache = isHashed ? "public, max-age=31536000, immutable" : "no-cache";
  const headers = {
    ...SHELL_HEADERS,
    "cache-control": cache,
    "content-length": String(bytes.length),
  };
  return { type, bytes, headers };
}

function findFolder(): string | undefined {
  return PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find(hasPage);
}

function hasPage(folder: string): boolean {
  try {
    return readdirSync(folder).includes("index.html");
  } catch {
    return false;
  }
}
