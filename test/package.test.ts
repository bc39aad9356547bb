/** What the package tells registries and readers: where it lives, every page that its pages link to, what its scripts run. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { listFiles } from "./list-files.ts";

// From build/test/ up to the checkout.
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const { files, scripts, ...about } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};

/** npm packs these without being asked. */
const ALWAYS = ["README.md", "LICENSE", "package.json"];
const packed = [...files, ...ALWAYS];

describe("the package", () => {
  it("says where it lives and what it is about", () => {
    for (const field of ["description", "license", "repository", "homepage", "bugs", "keywords"]) {
      assert.ok(about[field], field);
    }
  });

  it("has its docs and how to report a hole with it, and lets npm look for known ones", () => {
    for (const name of ["docs", "SECURITY.md"]) assert.ok(files.includes(name), name);
    assert.match(readFileSync(`${ROOT}SECURITY.md`, "utf8"), /report/i);
    assert.doesNotMatch(readFileSync(`${ROOT}.npmrc`, "utf8"), /^audit\s*=\s*false/m);
  });

  // Bytes of a picture can look like a link.
  const docs = listFiles(`${ROOT}docs`, ".md").map((name) => `docs/${name}`);
  for (const page of [...docs, ...packed.filter((name) => name.endsWith(".md"))]) {
    it(`${page} links to nothing that is not packed`, () => {
      const text = readFileSync(`${ROOT}${page}`, "utf8");
      for (const [, link = ""] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
        if (/^[a-z]+:/.test(link)) continue;
        const target = posix.join(posix.dirname(page), link);
        assert.ok(existsSync(`${ROOT}${target}`), `${link} does not exist`);
        assert.ok(
          packed.some((name) => target === name || target.startsWith(`${name}/`)),
          `${link} is not packed`,
        );
      }
    });
  }

  it("has every end-to-end test run by one of its scripts", () => {
    const words = `${scripts["e2e:built"]} ${scripts["clients:built"]}`.split(" ");
    const patterns = words
      .filter((word) => word.endsWith(".e2e.js"))
      .map((word) => new RegExp(`^${word.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}$`));
    const found = listFiles(`${ROOT}build/test`, ".e2e.js").map((file) => `build/test/${file}`);
    assert.ok(found.length > 80);
    assert.deepEqual(
      found.filter((file) => !patterns.some((pattern) => pattern.test(file))),
      [],
    );
  });
});
