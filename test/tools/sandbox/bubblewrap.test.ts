import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bubblewrapArguments, type View } from "../../../src/tools/sandbox/bubblewrap.ts";

const VIEW: View = {
  folders: ["/usr"],
  links: [["/bin", "usr/bin"]],
  files: [["/run/resolv.conf", "/etc/resolv.conf"]],
  home: "/home/me",
  programs: ["/home/me/.pyenv"],
  root: "/home/me/work",
  isWritable: true,
  readOnly: ["/home/me/work/.git"],
  hidden: [
    { path: "/home/me/work/.offshoot", isFolder: true },
    { path: "/home/me/work/.env", isFolder: false },
  ],
  hasNetwork: false,
  options: [],
};
const COMMAND = { cwd: "/home/me/work", reads: ["/data"], writes: ["/scratch"] };

const line = (view: Partial<View> = {}): string =>
  bubblewrapArguments({ ...VIEW, ...view }, COMMAND).join(" ");

describe("bubblewrapArguments", () => {
  it("puts what covers behind what is covered", () => {
    const order = [
      "--ro-bind /usr /usr",
      "--tmpfs /home/me",
      "--ro-bind /home/me/.pyenv /home/me/.pyenv",
      "--bind /home/me/work /home/me/work",
      "--ro-bind /home/me/work/.git /home/me/work/.git",
      "--tmpfs /home/me/work/.offshoot --remount-ro /home/me/work/.offshoot",
    ].map((part) => line().indexOf(part));
    assert.ok(!order.includes(-1), line());
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
  });

  it("ends with the folder to start in, so that no word of the command is taken for an option", () => {
    assert.match(line(), /--chdir \/home\/me\/work --$/);
  });

  it("shares the network and lets the workspace change only when told to", () => {
    assert.doesNotMatch(line(), /--share-net/);
    assert.match(line({ hasNetwork: true }), /--share-net/);
    assert.match(line({ isWritable: false }), /--ro-bind \/home\/me\/work \/home\/me\/work/);
  });

  it("uses what only newer ones understand where it is there", () => {
    assert.doesNotMatch(line(), /--disable-userns|--size/);
    assert.match(
      line({ options: ["--disable-userns", "--size"] }),
      /--disable-userns.*--size \d+ --tmpfs/,
    );
  });
});
