import { defineConfig } from "rolldown";
import { bundledLicenses, INSTALLED } from "./scripts/bundling.js";

/**
 * Undici loads `node:http2` at once, for a protocol that must be asked for and that we never ask for:
 * 5 ms of every request's start (bench/start.ts).
 */
const withoutHttp2 = {
  name: "without-http2",
  load: {
    filter: { id: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ },
    handler: () => "module.exports = undefined;",
  },
};

/**
 * A dispatcher is given texts and bytes, never forms. What would read forms is most of `fetch`: 90 kB to
 * parse with every request's start.
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

/**
 * V8 reads all of a file before it runs any of it, and what it runs once more: a tenth of a run's whole
 * processor time is comments, spaces and long names (bench/start.ts). ASCII, because such a text is neither
 * decoded nor stored with two bytes for each character. Functions and classes keep their names: stack traces
 * have them, and some packages tell errors apart by them.
 */
const small = {
  compress: { keepNames: { function: true, class: true } },
  mangle: { keepNames: true },
  codegen: { removeWhitespace: true, asciiOnly: true, legalComments: "none" },
};

/** What the wires share, each a file of its own otherwise. */
const WIRES = [
  "base/(lines|sse)",
  "providers/(offered-tools|json-rule|logprob-shape|cache-marks|sealed-reasoning|own-reasoning)",
];

/** What all stores share. */
const STORES = "store/(spending-rows|once)";

/**
 * A file costs about half a millisecond to find and load, so what is always loaded together is one
 * file, dependencies included: the tables and `--help`; a run; a run that talks to a server. What is
 * loaded when it is needed (other commands, the embedded model, schemas, YAML, SQLite) stays apart.
 * `bin.ts` stays alone: it waits for the commands, so no command's file may import from its file.
 */
const groups = [
  group("base", 9, "cli/(main|process-io)"),
  group("run", 8, "cli/(commands/run|output/(text|tree)-output)", "runtime/trust", STORES),
  group(
    "network",
    7,
    "providers/http/(http-provider|transport)",
    "providers/limits/limite(d-provider|rs)",
    ...WIRES,
  ),
  group("calls", 6, "agent/tool-calls", "tools/gate/judged-call"),
  group("delegation", 5, "delegation/(background|plan|tools/.*)"),
  group("paint", 4, "cli/output/text-paint"),
  group("memory", 3, "store/memory/memory-(kept|store)"),
  group("record", 2, "store/sqlite/sqlite-(kept|store|driver|shelf)"),
];

/** Modules of `src` by their paths without the ending, with all that they import and that is in no group before. */
function group(name, priority, ...paths) {
  const test = new RegExp(`src/(${paths.join("|")})\\.ts$`.replaceAll("/", "[\\\\/]"));
  return { name, test, priority };
}

/** The package is ESM; this folder is not. */
const asCommonJs = {
  name: "as-common-js",
  generateBundle() {
    this.emitFile({ type: "asset", fileName: "package.json", source: '{ "type": "commonjs" }\n' });
  },
};

const command = {
  input: { cli: "src/cli/bin.ts" },
  platform: "node",
  // The oldest runtime we support; newer syntax is written out for it, as tsc does for the library.
  transform: { target: "node20.19" },
  // zod is bundled here: the command hands no schema to anybody, and one file less is a quicker start.
  external: INSTALLED.filter((name) => !name.test("zod")),
  plugins: [withoutHttp2, withoutForms, asCommonJs, bundledLicenses()],
  output: {
    dir: "dist/bin",
    // 5 ms of every start faster than ESM, whose loader is asynchronous (bench/start.ts).
    format: "cjs",
    chunkFileNames: "cli-[name].js",
    minify: small,
    codeSplitting: { groups },
  },
};

/**
 * By itself: the process that runs Python shares no file with the command, so none of it is loaded there.
 * Strict, as the module it is made of: a frame of a sloppy function tells what it is called on.
 */
const pythonWorker = {
  ...command,
  input: { "python-worker": "src/tools/python/worker.ts" },
  plugins: [],
  output: { dir: "dist/bin", format: "cjs", codeSplitting: false, banner: '"use strict";' },
};

/** Pages and PDFs of strangers are read in a process that can be ended. */
const pageWorker = {
  ...pythonWorker,
  input: { "page-worker": "src/tools/web/content/page-worker.ts" },
};

/** Schemas of strangers are worked on in a thread that can be ended. */
const schemaWorker = {
  ...pythonWorker,
  input: { "schema-worker": "src/agent/schema-worker.ts" },
};

/** A record that is too large for a start to wait for is checked in a process that can be ended. */
const checkWorker = {
  ...pythonWorker,
  input: { "check-worker": "src/store/sqlite/check-worker.ts" },
};

export default defineConfig([command, pythonWorker, pageWorker, schemaWorker, checkWorker]);
