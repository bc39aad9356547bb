/** What both bundles share: the packages that are not bundled, and the licenses of those that are. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * Installed beside the product instead of bundled: packages with binaries or data files of their own, and packages
 * that few use.
 *
 * zod is bundled, although users pass schemas of their own copy: copies understand each other (`instanceof` and
 * descriptions included), and as 90 files of its own it takes longer to load than all our code (bench/start.ts).
 */
export const INSTALLED = [
  /^@dbos-inc\/dbos-sdk$/,
  /^@photostructure\/sqlite$/,
  /^@vscode\/ripgrep$/,
  /^node-llama-cpp$/,
  /^pyodide/,
  /^unpdf$/,
  /^node:/,
];

/** Modules that the wires share; otherwise each would be a file of its own. */
export const WIRES = [
  "base/(lines|sse)",
  "providers/(offered-tools|json-rule|logprob-shape|cache-marks|sealed-reasoning|own-reasoning)",
];

/** What all stores share. */
export const STORES = "store/(spending-rows|once)";

/** Modules of `src` by their paths without the ending, with everything they import that is in no earlier group. */
export function group(name, priority, ...paths) {
  const test = new RegExp(`src/(${paths.join("|")})\\.ts$`.replaceAll("/", "[\\\\/]"));
  return { name, test, priority };
}

/**
 * Undici loads `node:http2` at once, for a protocol that must be asked for and that we never ask for: 5 ms of every
 * request's start (bench/start.ts).
 */
const withoutHttp2 = {
  name: "without-http2",
  load: {
    filter: { id: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ },
    handler: () => "module.exports = undefined;",
  },
};

/**
 * A dispatcher gets texts and bytes, never forms. The code that reads forms is most of `fetch`: 90 kB to parse with
 * every request's start.
 */
const withoutForms = {
  name: "without-forms",
  transform: {
    filter: { id: /undici[\\/]lib[\\/]dispatcher[\\/]client-h1\.js$/ },
    handler(code) {
      const loads = "require('../web/fetch/body.js').extractBody";
      if (!code.includes(loads))
        throw new Error("client-h1.js of undici no longer reads forms so.");
      const refuses = "() => { throw new TypeError('The body is a form.') }";
      return { code: code.replace(loads, refuses), map: null };
    },
  },
};

/** The parts of undici that a request needs. */
export const lightUndici = [withoutHttp2, withoutForms];

/** Writes the licenses of all bundled packages beside the bundle, as the licenses require. */
export function bundledLicenses() {
  return {
    name: "bundled-licenses",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => Object.keys(file.modules ?? {}));
      const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined));
      const source = [...folders]
        .sort()
        .map(licenseOf)
        .join(`\n${"-".repeat(72)}\n\n`);
      this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENSES.txt", source });
    },
  };
}

/** `…/node_modules/@scope/name` of a module's path; undefined for one of the project's own. */
function packageFolder(module) {
  const parts = module.replace(/^\0/, "").split("?")[0].split(/[\\/]/);
  const at = parts.lastIndexOf("node_modules");
  if (at < 0) return undefined;
  const length = parts[at + 1]?.startsWith("@") ? 3 : 2;
  return parts.slice(0, at + length).join(sep);
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text =
    file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : "";
  return `${name} ${version} (${license ?? "see its text"})\n\n${text.trim()}\n`;
}
