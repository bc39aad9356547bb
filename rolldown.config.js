import { defineConfig } from "rolldown";

export default defineConfig({
  input: { cli: "src/cli/bin.ts" },
  platform: "node",
  external: [/^@photostructure\/sqlite$/, /^node:/],
  output: { dir: "dist/bin", format: "esm", chunkFileNames: "cli-[name].js", minify: false },
});
