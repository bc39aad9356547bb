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
 * A file costs about half a millisecond to find and load, so what is always loaded together is one
 * file, dependencies included: the tables and `--help`; a run; a run that talks to a server. What is
 * loaded when it is needed (other commands, the embedded model, schemas, YAML, SQLite) stays apart.
 * `bin.ts` stays alone: it waits for the commands, so no command's file may import from its file.
 */
const groups = [
  { name: "base", test: /src[\\/]cli[\\/](main|process-io)\.ts$/, priority: 3 },
  {
    name: "run",
    test: /src[\\/]cli[\\/](commands[\\/]run|output[\\/]text-output)\.ts$/,
    priority: 2,
  },
  {
    name: "network",
    test: /src[\\/]providers[\\/](http|limits)[\\/](http-provider|transport|limited-provider|limiters)\.ts$/,
    priority: 1,
  },
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
  // zod is bundled here: the command hands no schema to anybody, and one file less is a quicker start.
  external: INSTALLED.filter((name) => !name.test("zod")),
  plugins: [withoutHttp2, asCommonJs, bundledLicenses()],
  output: {
    dir: "dist/bin",
    // 5 ms of every start faster than ESM, whose loader is asynchronous (bench/start.ts).
    format: "cjs",
    chunkFileNames: "cli-[name].js",
    minify: false,
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
