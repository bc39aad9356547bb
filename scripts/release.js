/**
 * `npm run release [-- --dry-run]`: the next version from the files in `.changeset/`, checked, committed and tagged.
 * Publishing is left to CI, which builds the tag and signs where the package comes from (docs/releasing.md).
 */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run, runProgram } from "./packages.js";

const BUMPS = ["patch", "minor", "major"];
const FOLDER = join(ROOT, ".changeset");
/** The version that the program prints. */
const CODE = join(ROOT, "src/version.ts");

const changesets = readdirSync(FOLDER).filter((name) => name.endsWith(".md"));
const bump = BUMPS[Math.max(...changesets.map(readBump))];
if (bump === undefined) stop("There are no changesets: nothing to release.");
const version = nextVersion(readVersion(), bump);
console.log(`${readVersion()} → ${version} (${bump}, ${changesets.length} changesets)`);

if (process.argv.includes("--dry-run")) {
  console.log("changeset version, npm test, npm run check, npm run package,");
  console.log(`git commit -m "Release ${version}", git tag v${version}`);
} else {
  if (git("status", "--porcelain") !== "") stop("Commit or remove your changes first.");
  runProgram("tooling", "changeset", ["version"]);
  writeFileSync(CODE, readFileSync(CODE, "utf8").replace(/"\d+\.\d+\.\d+"/, `"${version}"`));
  run("npm", ["install", "--package-lock-only", "--ignore-scripts"]);
  if (readVersion() !== version) stop(`package.json says ${readVersion()}, not ${version}.`);
  for (const script of ["test", "check", "package"]) run("npm", ["run", script]);
  git("add", "--all");
  git("commit", "--message", `Release ${version}`);
  git("tag", "--annotate", `v${version}`, "--message", `Release ${version}`);
  console.log(`Push it: git push --follow-tags`);
}

/** The index in BUMPS of the bump that a changeset asks for. */
function readBump(name) {
  const [, word = ""] =
    /^"?offshoot"?: (\w+)$/m.exec(readFileSync(join(FOLDER, name), "utf8")) ?? [];
  if (!BUMPS.includes(word))
    stop(`.changeset/${name} asks for \`${word}\`, not patch, minor or major.`);
  return BUMPS.indexOf(word);
}

function readVersion() {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version;
}

/** Counts like `changeset version`. */
function nextVersion(now, by) {
  const [major, minor, patch] = now.split(".").map(Number);
  if (by === "major") return `${major + 1}.0.0`;
  return by === "minor" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

function git(...args) {
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
}

function stop(why) {
  console.error(why);
  process.exit(1);
}
