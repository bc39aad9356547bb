import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";
import { bundledLicenses } from "./scripts/bundling.js";

const WEB = fileURLToPath(new URL("web/", import.meta.url));

/**
 * Writes the page around the script: one style sheet, one icon, one HTML file, whose names change with
 * their contents, so that browsers may keep them for ever. Addresses in the page are absolute, because
 * deep links load it too; a server below a path prefix puts that in front of `/console/`.
 */
const page = {
  name: "page",
  generateBundle(_options, bundle) {
    const script = Object.values(bundle).find((file) => file.type === "chunk" && file.isEntry);
    const sheets = readdirSync(`${WEB}style`)
      .filter((name) => name.endsWith(".css"))
      .sort();
    const style = sheets.map((name) => readFileSync(`${WEB}style/${name}`, "utf8")).join("\n");
    const styleName = emit(this, "console", "css", style);
    const iconName = emit(this, "icon", "svg", readFileSync(`${WEB}icon.svg`, "utf8"));
    const html = readFileSync(`${WEB}index.html`, "utf8")
      .replace("ICON", iconName)
      .replace("STYLE", styleName)
      .replace("SCRIPT", script.fileName);
    this.emitFile({ type: "asset", fileName: "index.html", source: html });
  },
};

function emit(context, name, ending, source) {
  const hash = createHash("sha256").update(source).digest("base64url").slice(0, 8);
  const fileName = `${name}-${hash}.${ending}`;
  context.emitFile({ type: "asset", fileName, source });
  return fileName;
}

/** The console: what a browser loads from `/console/`. */
export default defineConfig({
  input: { console: "web/main.tsx" },
  platform: "browser",
  transform: { target: "es2023" },
  plugins: [page, bundledLicenses()],
  output: {
    dir: "dist/console",
    format: "esm",
    entryFileNames: "console-[hash].js",
    chunkFileNames: "part-[name]-[hash].js",
    minify: true,
  },
});
