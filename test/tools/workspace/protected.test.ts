import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  findProtection,
  isSensitive,
  PROTECTED_PATHS,
} from "../../../src/tools/workspace/protected.ts";

describe("findProtection", () => {
  it("gives a reason for every row of the table, at any depth and below", () => {
    for (const [path, reason] of Object.entries(PROTECTED_PATHS)) {
      for (const form of [path, `a/b/${path}`, `${path}/x/y`, path.toUpperCase()]) {
        assert.equal(findProtection(form), reason, form);
      }
    }
  });

  for (const path of [
    ".git.",
    ".git ",
    ".git . .",
    ".GiT/config",
    ".git::$INDEX_ALLOCATION",
    ".git:stream",
    "GIT~1/config",
    "\uff0egit",
    "\u2024git",
    ".g\u200cit",
    ".gi\ufefft/config",
    ".\u00adgit",
    ".\uff47\uff49\uff54",
    ".\u017fsh/id_rsa",
    ".\u212aube/config",
    "a/.Config/GCloud/x",
  ]) {
    it(`recognizes another spelling: ${JSON.stringify(path)}`, () => {
      assert.notEqual(findProtection(path), undefined);
    });
  }

  for (const path of [
    "",
    ".gitignore",
    ".github/workflows/ci.yml",
    "git/config",
    "src/.gitkeep",
    ".config/other",
    "gcloud",
    "a.git",
    "Library/Other",
    "x:y",
    "docs/.sshx",
    ".config/offshooting",
    ".local/share/other",
    "é/.gitattributes",
  ]) {
    it(`allows other names: ${JSON.stringify(path)}`, () => {
      assert.equal(findProtection(path), undefined);
    });
  }
});

describe("isSensitive", () => {
  for (const path of [
    ".env",
    "a/.ENV",
    ".env.local",
    ".env.production",
    "certs/server.pem",
    "x.KEY",
    "id_rsa",
    "id_ed25519_work",
    ".netrc",
    "a/.npmrc",
    ".git-credentials",
    "secrets.kdbx",
    "credentials",
    "config/secrets.yml",
    ".env.",
    "\uff0eenv",
    ".env:x",
  ]) {
    it(`asks about ${JSON.stringify(path)}`, () => {
      assert.equal(isSensitive(path), true);
    });
  }

  for (const path of [
    ".env.example",
    ".env.sample",
    ".env.template",
    "id_rsa.pub",
    "env",
    "keyboard.ts",
    "monkey",
    "a.env/b",
    "src/credentials.ts",
    "",
  ]) {
    it(`does not ask about ${JSON.stringify(path)}`, () => {
      assert.equal(isSensitive(path), false);
    });
  }
});
