/** Documents that name files: a recipe that points at nothing is worse than none. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

const ROOT = new URL("../../", import.meta.url);

describe("the documents", () => {
  for (const page of [
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "README.md",
    "GLOSSARY.md",
    "SECURITY.md",
  ]) {
    it(`${page} names only files that exist`, () => {
      const text = readFileSync(new URL(page, ROOT), "utf8");
      const names = [...text.matchAll(/`((?:src|test|bench|docs|scripts)\/[\w./-]*)`/g)];
      const links = [...text.matchAll(/\]\(((?:docs\/)?[\w-]+\.md)\)/g)];
      for (const [, path = ""] of [...names, ...links]) {
        assert.ok(existsSync(new URL(path, ROOT)), `${page} names ${path}, which does not exist`);
      }
      if (page === "CONTRIBUTING.md") assert.ok(names.length > 15, "the recipes name their files");
    });
  }
});
