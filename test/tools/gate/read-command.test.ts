import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readCommand } from "../../../src/tools/gate/read-command.ts";

const lines = (text: string): string[] =>
  readCommand({ shell: text }).commands.map((words) => words.join(" "));

describe("readCommand", () => {
  const readable: readonly [text: string, ...commands: string[]][] = [
    ["git status", "git status"],
    ["ls -la | grep foo | wc -l", "ls -la", "grep foo", "wc -l"],
    ["a; b && c || d & e\nf", "a", "b", "c", "d", "e", "f"],
    ["(a; b)", "a", "b"],
    ["if a; then b; elif c; then d; else e; fi", "a", "b", "c", "d", "e"],
    ["while a; do b; done", "a", "b"],
    ["! a", "a"],
    ["a # ; b", "a"],
    ["a#b c#", "a#b c#"],
    ["echo 'a $b `c`' \"d; e\" f\\ g", "echo a $b `c` d; e f g"],
    ['echo "a\\"b" \'c"d\'', 'echo a"b c"d'],
    ["echo '' x", "echo  x"],
    ["echo a\\\nb", "echo ab"],
    ["LANG=C sort x", "sort x"],
    ["ls src/*.ts", "ls src/*.ts"],
    ["echo 5$ $", "echo 5$ $"],
    ["env -i LANG=C git log", "env -i LANG=C git log", "git log"],
    ["timeout 5s git log", "timeout 5s git log", "git log"],
    ["nice -n 5 nohup git log &", "nice -n 5 nohup git log", "nohup git log", "git log"],
    ["sh -c 'git log; ls' x", "sh -c git log; ls x", "git log", "ls"],
    ["bash script.sh -c x", "bash script.sh -c x"],
    ["find . -name '*.ts' -exec wc -l {} +", "find . -name *.ts -exec wc -l {} +", "wc -l {}"],
    ["git -C sub --no-pager push -f", "git -C sub --no-pager push -f", "git push -f"],
    ["git grep -i foo", "git grep -i foo"],
    ["python3 script.py -c x", "python3 script.py -c x"],
    ["python3 -m pytest -c x", "python3 -m pytest -c x"],
    ["node --test", "node --test"],
    ["awk '{ print $1 }' f", "awk { print $1 } f"],
    ["sed -n '1,20p' f", "sed -n 1,20p f"],
    ["sed -e s/a/b/g -e '/x/d' f", "sed -e s/a/b/g -e /x/d f"],
    ["command -v rm", "command -v rm"],
    ["tar xzf a.tgz INFO", "tar xzf a.tgz INFO"],
    ["make -j4 test", "make -j4 test"],
    ["npm run build", "npm run build"],
    ["npm install --save-dev x", "npm install --save-dev x"],
    ["npx prettier .", "npx prettier .", "prettier ."],
    ["npm x prettier", "npm x prettier", "prettier"],
    ["git log \\\n  --oneline", "git log --oneline"],
    ["echo 'a\\\nb' \"c\\\nd\" e\\\nf", "echo a\\\nb cd ef"],
    ["i\\\nf a; t\\\nhen b; fi", "a", "b"],
    ["a 2\\\n>/dev/null &\\\n& b", "a", "b"],
    ["cat *.ts", "cat *.ts"],
    ["wc -l ./*.ts", "wc -l ./*.ts"],
    ["[ -f x ]", "[ -f x ]"],
    ["comm a b", "comm a b"],
    ["git config user.name x", "git config user.name x"],
    ["git config --get core.editor", "git config --get core.editor"],
    ["git clone --depth 1 x", "git clone --depth 1 x"],
    ["python3 -Im pytest x", "python3 -Im pytest x"],
    ["python3 -X dev dev/x.py", "python3 -X dev dev/x.py"],
    ["sh dev/start.sh", "sh dev/start.sh"],
    ["node --import ./a.js --test b.js -e", "node --import ./a.js --test b.js -e"],
    ["sed -n -e 's/[a-z]*/x/' -es/a/b/ f", "sed -n -e s/[a-z]*/x/ -es/a/b/ f"],
    ["sed -i.bak 's|a/b|c|' f", "sed -i.bak s|a/b|c| f"],
    ["sqlite3 x.db 'select 1'", "sqlite3 x.db select 1"],
    ["docker ps", "docker ps"],
    ["find . -exec mv {} {}.old ';'", "find . -exec mv {} {}.old ;", "mv {} {}.old"],
  ];
  for (const [text, ...commands] of readable) {
    it(`reads ${JSON.stringify(text)}`, () => {
      const reading = readCommand({ shell: text });
      assert.deepEqual(lines(text), commands);
      assert.ok(reading.isReadable);
    });
  }

  it("reads the files that the shell itself opens", () => {
    const { reads, writes, commands, isReadable } = readCommand({
      shell: "a <in >out 2>>log 3<>both &>all; b >&2 2>&1 >/dev/null; c >'x y'",
    });
    assert.deepEqual(
      { reads, writes },
      { reads: ["in", "both"], writes: ["out", "log", "both", "all", "x y"] },
    );
    assert.deepEqual(commands, [["a"], ["b"], ["c"]]);
    assert.ok(isReadable);
  });

  const blind = [
    "$X",
    "ls $X",
    'ls "$X"',
    "ls $(x)",
    "ls `x`",
    "ls <(x)",
    "cat <<E\nx\nE",
    "cat <<<x",
    "ls *",
    "l? x",
    "ls {a,b}",
    "ls {1..3}",
    "ls ~",
    "ls ~/x",
    "X=1",
    "X=1 ls",
    "PATH=. ls",
    "for i in a; do b; done",
    "case x in a) b;; esac",
    "f() { a; }",
    "[[ a ]]",
    "echo 'open",
    'echo "open',
    "echo open\\",
    "ls > $X",
    "ls > *.txt",
    "x=(a b)",
    "echo $'a'",
    "sh",
    "sh -s",
    "bash -i",
    "fish -c ls",
    "sh -o pipefail -c ls",
    "xargs ls",
    "env -S ls",
    "timeout --unknown 5 ls",
    "python3",
    "python3 -",
    "node -e 1",
    "node --import=data:x y.js",
    "perl -ne 1",
    "perl -Mx -e 1",
    "ruby -v -e 1",
    "python3 -v -c 1",
    "git -c a.b=c log",
    "git config alias.x '!y'",
    "awk '{ print | \"x\" }'",
    "sed '1w out' f",
    "sed -f x f",
    "make CC=x",
    "tar xIf x a.tar",
    "find . -exec ls",
    "find . -exec {} ;",
    "export X=1",
    "ls\0",
    "python3 *.py",
    "find . -name *.ts",
    "zsh -c ls",
    "git config edit",
    "python3 -W -- -m timeit x",
    "sed -l 5 p f",
    "sh ./stdin",
    "env -u + {} ls",
    "chroot /x",
    "comp\\\ngen -C ls",
    "printf -v PATH .",
    "eval ls",
  ];
  for (const text of blind) {
    it(`does not claim to read ${JSON.stringify(text)}`, () => {
      assert.equal(readCommand({ shell: text }).isReadable, false);
    });
  }

  it("distinguishes programs in no list from those that start none of their words", () => {
    const { unlisted } = readCommand({ shell: "launch rm x; grep rm x; env other rm; npm rm x" });
    assert.deepEqual(unlisted, [
      ["launch", "rm", "x"],
      ["other", "rm"],
    ]);
  });

  const launchers = [
    ...["chronic", "ifne", "dtach -n s", "abduco -n s", "tsocks", "trickle", "setlock f"],
    ...[
      "s6-setuidgid me",
      "execlineb -c",
      "multitime",
      "heaptrack",
      "op run --",
      "aws-vault exec p --",
    ],
    ...[
      "doppler run --",
      "chamber exec s --",
      "infisical run --",
      "sops exec-env f",
      "incus exec c --",
    ],
    ...["toolbox run", "distrobox enter c --", "watchman-make --run", "chokidar . -c", "pee"],
    ...["mispipe", "zrun"],
  ];
  for (const launcher of launchers) {
    it(`does not claim to read what \`${launcher}\` starts`, () => {
      assert.equal(readCommand({ shell: `${launcher} rm x` }).isReadable, false);
    });
  }

  it("reads plain words unchanged", () => {
    const { commands, isReadable } = readCommand({ argv: ["ls", "$X", "*", "a;b"] });
    assert.deepEqual(
      { commands, isReadable },
      { commands: [["ls", "$X", "*", "a;b"]], isReadable: true },
    );
    assert.equal(readCommand({ argv: [] }).isReadable, false);
  });

  it("reads neither form beyond a length", () => {
    const long = "a".repeat(100_001);
    assert.equal(readCommand({ shell: `echo ${long}` }).isReadable, false);
    assert.equal(readCommand({ argv: ["echo", long] }).isReadable, false);
    assert.equal(
      readCommand({ argv: Array.from({ length: 50_001 }, () => "a") }).isReadable,
      false,
    );
  });

  it("reads all words back that were quoted", () => {
    const quotes: readonly ((word: string) => string)[] = [
      (word) => `'${word.replaceAll("'", "'\\''")}'`,
      (word) => `"${word.replace(/[$`"\\]/g, "\\$&")}"`,
      (word) => (word === "" ? "''" : word.replace(/[^\n]/gu, "\\$&").replaceAll("\n", "'\n'")),
    ];
    const word = fc.tuple(fc.string({ maxLength: 8 }), fc.constantFrom(...quotes));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (given) => {
        const words = given.map(([text]) => text.replaceAll("\0", ""));
        const text = given.map(([, quote], at) => quote(words[at] ?? "")).join(" ");
        // Only its arguments: `echo` runs nothing that they name.
        assert.deepEqual(readCommand({ shell: `echo ${text}` }).commands, [["echo", ...words]]);
      }),
    );
  });

  it("comes to an end with any text, in good time", () => {
    const signs = fc.constantFrom(
      ..."ab '\"\\$`;&|<>(){}[]*?~=#\n".split(""),
      "sh -c ",
      "env ",
      "{a,",
    );
    fc.assert(
      fc.property(fc.array(signs, { maxLength: 40 }), (parts) => {
        readCommand({ shell: parts.join("") });
      }),
    );
    for (const sign of ["{", "[", "(", "'", '"', "\\", "$(", "a ", "<", "{,", "-exec ", "env "]) {
      readCommand({ shell: `find ${sign.repeat(40_000)}` });
    }
    for (const sign of ["\\\n", "'\\\n", "a\\\n", '"\\\n']) {
      readCommand({ shell: sign.repeat(30_000) });
    }
    for (const sign of [" ", "/", "\\", "[", "[]", "s/", ";", "1,", "a"]) {
      const text = sign.repeat(Math.floor(99_000 / sign.length));
      for (const name of ["sed", "awk", "git", "tar", "sh", "python3", "make"]) {
        readCommand({ argv: [name, text] });
        readCommand({ argv: [name, `-${text}`] });
      }
      readCommand({ argv: ["sed", `/${text}`] });
    }
    readCommand({
      argv: ["find", ...Array.from({ length: 9_000 }, () => ["-exec", "a", ";"]).flat()],
    });
  });
});
