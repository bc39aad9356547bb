import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  fits,
  matchesPath,
  NOTHING_TOUCHED,
  parseRule,
  type RuleVerdict,
  type Touched,
} from "../../../src/tools/gate/rules.ts";

const NOTHING: Touched = { ...NOTHING_TOUCHED, tool: "x" };
const files = (tool: string, ...paths: string[]): Touched => ({ ...NOTHING, tool, paths });
const hosts = (tool: string, ...names: string[]): Touched => ({ ...NOTHING, tool, hosts: names });
const shell = (...commands: string[]): Touched => ({
  ...NOTHING,
  tool: "shell",
  commands: commands.map((text) => text.split(" ")),
});
const unlisted = (text: string): Touched => ({ ...shell(text), unlisted: [text.split(" ")] });
const unreadable: Touched = { ...shell("ls"), isReadable: false };

describe("a rule", () => {
  const rows: readonly [verdict: RuleVerdict, rule: string, touched: Touched, fits: boolean][] = [
    ["allow", "read", files("read", "a"), true],
    ["allow", "read", files("write", "a"), false],
    ["deny", "mcp__github__*", files("mcp__github__delete_repo"), true],
    ["deny", "*", files("anything"), true],
    ["allow", "write(docs/**)", files("write", "docs/a/b.md"), true],
    ["allow", "write(docs/**)", files("write", "src/a.ts"), false],
    ["allow", "file_ops(docs/**)", files("file_ops", "docs/a.md", "src/a.ts"), false],
    ["deny", "file_ops(docs/**)", files("file_ops", "docs/a.md", "src/a.ts"), true],
    ["deny", "path(.env)", files("read", "deep/.env"), true],
    ["deny", "path(secrets)", files("read", "secrets/a/b"), true],
    ["deny", "path(secrets/)", files("read", "a/secrets/b"), true],
    ["deny", "path(/secrets/**)", files("read", "secrets/b"), true],
    ["deny", "path(secrets)", files("read", "secretsx"), false],
    ["deny", "path(.env)", { ...shell("cat .env"), paths: [".env"] }, true],
    ["allow", "path(src/**)", { ...shell("rm src/a"), paths: ["src/a"] }, false],
    ["allow", "host(*.example.com)", hosts("fetch", "a.example.com"), true],
    ["allow", "host(*.example.com)", hosts("fetch", "a.b.example.com"), true],
    ["allow", "host(*.example.com)", hosts("fetch", "example.com.evil.org"), false],
    ["deny", "host(Example.com)", hosts("fetch", "EXAMPLE.com"), true],
    ["allow", "fetch(example.com)", hosts("fetch", "example.com"), true],
    ["allow", "shell(git *)", shell("git status"), true],
    ["allow", "shell(git *)", shell("git"), true],
    ["allow", "shell(git *)", shell("gitx status"), false],
    ["allow", "shell(git status)", shell("git push"), false],
    ["allow", "shell(git *)", shell("git status", "rm -rf ."), false],
    ["deny", "shell(rm *)", shell("git status", "rm -rf ."), true],
    ["deny", "command(rm *)", shell("/bin/rm -rf ."), true],
    ["allow", "shell(git *)", shell("./git status"), false],
    ["allow", "shell(git *)", { ...shell("git log"), redirects: [".bashrc"] }, false],
    ["deny", "shell(git *)", { ...shell("git log"), redirects: [".bashrc"] }, true],
    ["deny", "command(rm *)", unlisted("chronic rm x"), true],
    ["ask", "shell(rm *)", unlisted("chronic -v /bin/rm x"), true],
    ["deny", "command(git push *)", unlisted("launch git push"), true],
    ["deny", "command(git push *)", unlisted("launch git pull"), false],
    ["deny", "command(rm *)", unlisted("launch --do=rm x"), true],
    ["deny", "command(rm *)", unlisted("launch farm"), false],
    ["deny", "command(rm -rf *)", unlisted(`launch ${"rm ".repeat(200)}`), true],
    ["deny", "command(rm *)", shell("grep rm x"), false],
    ["allow", "shell(rm *)", unlisted("launch rm x"), false],
    ["allow", "shell(launch *)", unlisted("launch rm x"), true],
    ["allow", "shell(git *)", { ...shell("git status"), staysInRepository: false }, false],
    ["allow", "shell", { ...shell("git status"), staysInRepository: false }, true],
    ["deny", "shell(git *)", { ...shell("git status"), staysInRepository: false }, true],
    ["allow", "shell(git *)", unreadable, false],
    ["deny", "command(rm *)", unreadable, true],
    ["ask", "shell(rm *)", unreadable, true],
    ["deny", "path(secrets)", { ...unreadable, arePathsReadable: false }, true],
    ["allow", "path(secrets)", { ...unreadable, arePathsReadable: false }, false],
    ["deny", "path(secrets/**)", files("read", "secrets"), true],
    ["deny", "path(secrets/**)", files("read", "a/secrets"), false],
    ["deny", "command(*curl*|*sh*)", shell(`echo ${"curl|".repeat(20_000)}`), false],
    ["deny", "command(*curl*|*sh*)", shell("echo curl x|y sh z"), true],
    ["allow", "shell(git *)", { ...shell(), commands: [["git x/y"]] }, false],
    ["deny", "command(rm *)", files("read", "rm"), false],
    ["allow", "shell", unreadable, true],
  ];
  for (const [verdict, text, touched, expected] of rows) {
    const call = JSON.stringify({ ...touched, isReadable: undefined });
    it(`${verdict} ${text} ${expected ? "fits" : "does not fit"} ${call}${touched.isReadable ? "" : " (unreadable)"}`, () => {
      assert.equal(fits(parseRule(verdict, text, "here"), touched), expected);
    });
  }

  for (const text of ["", "()", "shell(", "path", "path()", "host( )", "shell (a) b", "a b"]) {
    it(`is not \`${text}\``, () => {
      assert.throws(() => parseRule("deny", text, "--deny"), {
        code: "invalid_request",
        message: /^--deny: .*is not a valid rule\. Rules are `shell`/,
      });
    });
  }

  it("matches a folder and everything in it", () => {
    assert.ok(matchesPath("a/node_modules/b.js", "node_modules"));
    assert.ok(!matchesPath("a/node_modules_b.js", "node_modules"));
  });
});
