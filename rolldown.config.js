import { defineConfig } from "rolldown";
import {
  bundledLicenses,
  group,
  INSTALLED,
  lightUndici,
  STORES,
  WIRES,
} from "./scripts/bundling.js";

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
  external: INSTALLED,
  plugins: [...lightUndici, asCommonJs, bundledLicenses()],
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
