/**
 * The site that `npm run docs:site` builds from docs/ and the pages of the root. Its sidebar is docs/README.md, so that
 * readers on GitHub and readers of the site see one order. A link to a file that is not a page goes to the repository.
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const REPOSITORY = "https://github.com/offshoot-run/offshoot/blob/main/";

/** Each `## Section` of the index with its links. */
function readSidebar() {
  const index = readFileSync(join(ROOT, "docs/README.md"), "utf8");
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split("\n", 1)[0],
      items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text, link]) => ({
        text,
        link: toAddress(link),
      })),
    }));
}

/** A page of the repository that the package leaves out is linked as a whole address, and is a page here all the same. */
function toAddress(link) {
  const path = link.startsWith(REPOSITORY) ? link.slice(REPOSITORY.length) : join("docs", link);
  return `/${path.replace(/\.md$/, "").replace(/README$/, "")}`;
}

/** Files of the code, the manifests and the prompts are not pages. */
const PAGES = /^(docs\/[\w-]+|examples\/README|[A-Z]+)\.md$/;

function pointAtRepository(md) {
  md.core.ruler.push("files-of-the-repository", ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? (token.attrGet("href") ?? "") : "";
      if (href === "" || /^(\w+:|#)/.test(href)) continue;
      const [path] = decodeURI(href).split("#");
      const file = relative(ROOT, join(dirname(env.path), path));
      if (!PAGES.test(file) && existsSync(join(ROOT, file)))
        token.attrSet("href", REPOSITORY + file);
    }
  });
}

// VitePress reads the default export and no other.
export default {
  title: "Offshoot",
  description: "Runs LLM agents as a command, a library and a server for any model",
  srcDir: "..",
  outDir: "../build/site",
  cacheDir: "../build/site-cache",
  srcExclude: ["{build,dist,prompts,site,src,test,tooling}/**", "AGENTS.md"],
  rewrites: {
    "README.md": "index.md",
    "docs/README.md": "docs/index.md",
    "examples/README.md": "examples/index.md",
  },
  cleanUrls: false,
  lastUpdated: false,
  markdown: { config: pointAtRepository },
  themeConfig: {
    search: { provider: "local" },
    sidebar: readSidebar(),
    nav: [
      { text: "First hour", link: "/docs/first-hour" },
      { text: "All pages", link: "/docs/" },
      { text: "Examples", link: "/examples/" },
    ],
    socialLinks: [{ icon: "github", link: "https://github.com/offshoot-run/offshoot" }],
    outline: { level: [2, 3] },
    editLink: { pattern: `${REPOSITORY}:path` },
  },
};
