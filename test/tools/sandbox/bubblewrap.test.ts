import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bubblewrapArguments, type View } from "../../../src/tools/sandbox/bubblewrap.ts";

const VIEW: View = {
  folders: ["/usr"],
  links: [["/bin", "usr/bin"]],
  files: [["/run/resolv.conf", "/etc/resolv.conf"]],
  home: "/home/me",
  programs: ["/home/me/.pyenv"],
  secrets: ["/home/me/.pyenv/versions/3/pip.conf"],
  root: "/home/me/work",
  isWritable: true,
  readOnly: ["/home/me/work/.git"],
  hidden: [
    { path: "/home/me/work/.offshoot", isFolder: true },
    { path: "/home/me/work/.env", isFolder: false },
  ],
  hasNetwork: false,
  kernel: {
    readOnly: ["/proc/sys"],
    hidden: [
      { path: "/proc/irq", isFolder: true },
      { path: "/proc/keys", isFolder: false },
    ],
  },
  isFiltered: true,
  options: [],
};
const COMMAND = { cwd: "/home/me/work", reads: ["/data"], writes: ["/scratch"] };

const line = (view: Partial<View> = {}): string =>
  bubblewrapArguments({ ...VIEW, ...view }, COMMAND).join(" ");

describe("bubblewrapArguments", () => {
  it("mounts covers after what they cover", () => {
    const order = [
      "--ro-bind /usr /usr",
      "--tmpfs /home/me",
      "--ro-bind /home/me/.pyenv /home/me/.pyenv",
      "--ro-bind /dev/null /home/me/.pyenv/versions/3/pip.conf",
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

  it("holds the folders above covered files in place, the upper ones first", () => {
    const readOnly = ["/home/me/work/a/b/.git", "/home/me/work/a/b/.git/c/.git"];
    const hidden = [{ path: "/home/me/work/a/x/.env", isFolder: false }];
    const mounts =
      "--bind /home/me/work/a /home/me/work/a --bind /home/me/work/a/b /home/me/work/a/b --bind /home/me/work/a/x /home/me/work/a/x --ro-bind /home/me/work/a/b/.git ";
    assert.ok(line({ readOnly, hidden }).includes(mounts), line({ readOnly, hidden }));
    assert.doesNotMatch(line({ readOnly, hidden, isWritable: false }), /--bind \/home/);
  });

  it("covers files of the kernel after the file system that has them", () => {
    assert.match(line(), /--proc \/proc .*--ro-bind \/proc\/sys \/proc\/sys --tmpfs \/proc\/irq/);
    assert.match(line(), /--remount-ro \/proc\/irq --ro-bind \/dev\/null \/proc\/keys/);
    assert.match(line(), /--remount-ro \/ --chdir/);
  });

  it("filters system calls if there is a filter", () => {
    assert.match(line(), / --seccomp 4 /);
    assert.doesNotMatch(line({ isFiltered: false }), /seccomp/);
  });

  it("shows a client's command another user, machine and folder", () => {
    const persona = { uid: 1000, hostname: "container" };
    const strange = line({ persona, place: "/mnt/data", home: "/home/user" });
    assert.match(strange, /--uid 1000 --gid 1000 --hostname container/);
    assert.match(strange, /--bind \/home\/me\/work \/mnt\/data .*--chdir \/mnt\/data$/);
    assert.match(strange, /--ro-bind \/home\/me\/work\/.git \/mnt\/data\/.git/);
  });

  it("ends with the folder to start in, after everything that makes it", () => {
    assert.match(line(), /--remount-ro \/ --chdir \/home\/me\/work$/);
  });

  it("shares the network and lets the workspace change only if told to", () => {
    assert.doesNotMatch(line(), /--share-net/);
    assert.match(line({ hasNetwork: true }), /--share-net/);
    assert.match(line({ isWritable: false }), /--ro-bind \/home\/me\/work \/home\/me\/work/);
  });

  it("uses options of newer versions if they are available", () => {
    assert.doesNotMatch(line(), /--disable-userns|--size/);
    assert.match(
      line({ options: ["--disable-userns", "--size"] }),
      /--disable-userns.*--size \d+ --tmpfs/,
    );
  });
});
