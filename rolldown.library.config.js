import { defineConfig } from "rolldown";
import { bundledLicenses, INSTALLED } from "./scripts/bundling.js";

/**
 * The library, for programs that import it. The packages it uses are in it, as in the command, so that an
 * installation has 5 packages in place of 240. Files that entries share lie in `dist/lib/`.
 */
export default defineConfig({
  input: {
    index: "src/index.ts",
    "protocol/index": "src/protocol/index.ts",
    "testing/index": "src/testing/index.ts",
  },
  platform: "node",
  transform: { target: "node20.19" },
  external: INSTALLED,
  plugins: [bundledLicenses()],
  output: {
    dir: "dist",
    format: "esm",
    chunkFileNames: "lib/[name].js",
    minify: false,
  },
});
