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
 * The library, for programs that import it. The packages it uses are in it, as in the command, so that an
 * installation has 5 packages in place of 240. Files that entries share lie in `dist/lib/`.
 */
export default defineConfig({
  input: {
    index: "src/index.ts",
    "protocol/index": "src/protocol/index.ts",
    "server/index": "src/server/index.ts",
    "frameworks/ai-sdk/index": "src/frameworks/ai-sdk/index.ts",
    "frameworks/openai-agents/index": "src/frameworks/openai-agents/index.ts",
    "testing/index": "src/testing/index.ts",
  },
  platform: "node",
  transform: { target: "node20.19" },
  external: INSTALLED,
  plugins: [...lightUndici, bundledLicenses()],
  output: {
    dir: "dist",
    format: "esm",
    chunkFileNames: "lib/[name].js",
    minify: false,
    // As in the command: what a program loads together is one file (bench/start.ts).
    codeSplitting: {
      groups: [
        group("protocol", 9, "protocol/index"),
        group("runtime", 8, "runtime/(runtime|agent-body)", "agent/loop", STORES),
        group(
          "network",
          7,
          "providers/http/(http-provider|transport)",
          "providers/limits/limite(d-provider|rs)",
          ...WIRES,
        ),
        group("calls", 6, "agent/tool-calls", "tools/gate/judged-call"),
        group("delegation", 5, "delegation/(background|plan|tools/.*)"),
        group("memory", 3, "store/memory/memory-(kept|store)"),
        group("record", 2, "store/sqlite/sqlite-(kept|store|driver|shelf)"),
      ],
    },
  },
});
