import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SeatbeltView, seatbeltProfile } from "../../../src/tools/sandbox/seatbelt.ts";

const VIEW: SeatbeltView = {
  root: "/Users/me/work",
  isWritable: true,
  hasNetwork: false,
  hidden: ["/Users/me/work/.offshoot"],
  readOnly: ["/Users/me/work/.git"],
  privateFolder: "/private/var/folders/x/offshoot-1",
  programs: ["/Users/me/.pyenv"],
  reads: ["/Users/me/data"],
  writes: [],
};

const lines = (view: Partial<SeatbeltView> = {}): string[] =>
  seatbeltProfile({ ...VIEW, ...view }).split("\n");
const rule = (found: readonly string[], start: string): string =>
  found.find((one) => one.startsWith(start)) ?? assert.fail(`${start} is missing`);

describe("seatbeltProfile", () => {
  it("a seatbelt profile begins by denying everything", () => {
    assert.deepEqual(lines().slice(0, 2), ["(version 1)", "(deny default)"]);
  });

  it("lets commands change the workspace and the private folder, and nothing else", () => {
    const expected = `(allow file-write* (subpath "${VIEW.privateFolder}") (subpath "${VIEW.root}"))`;
    assert.equal(rule(lines(), "(allow file-write* "), expected);
    const fixed = rule(lines({ isWritable: false }), "(allow file-write* ");
    assert.ok(!fixed.includes(VIEW.root));
  });

  it("shows the home folder's path, and none of its files", () => {
    const found = lines();
    assert.ok(rule(found, "(allow file-read-metadata ").includes('(literal "/Users/me")'));
    const reading = found.filter((one) => one.startsWith("(allow file-read* "));
    assert.ok(!reading.some((one) => one.includes('"/Users/me"') || one.includes('"/Users"')));
  });

  it("denies protected paths after the workspace's own rule, because the later one applies", () => {
    const found = lines();
    const allowed = found.findIndex((one) => one.startsWith("(allow file-write* "));
    const fixed = found.indexOf('(deny file-write* (subpath "/Users/me/work/.git"))');
    const hidden = found.indexOf(
      '(deny file-read* file-write* (subpath "/Users/me/work/.offshoot"))',
    );
    assert.ok(allowed >= 0 && fixed > allowed && hidden > allowed);
  });

  it("lets no folder above a protected path be moved", () => {
    const found = lines({ hidden: ["/Users/me/work/a/b/.env"] });
    const pins =
      '(deny file-write-unlink (literal "/Users/me/work/a") (literal "/Users/me/work/a/b"))';
    assert.ok(found.includes(pins), found.join("\n"));
  });

  it("allows the network only if told to", () => {
    assert.ok(!lines().some((one) => one.includes("network")));
    assert.ok(lines({ hasNetwork: true }).includes("(allow network*)"));
  });

  it("lets no name of a folder become a rule", () => {
    const root = '/a") (allow default) ("\\';
    const profile = seatbeltProfile({ ...VIEW, root });
    assert.ok(profile.includes('(subpath "/a\\") (allow default) (\\"\\\\")'));
    assert.ok(!profile.split("\n").some((one) => one.startsWith("(allow default")));
  });
});
