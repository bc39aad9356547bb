/**
 * Commands of an attacker. The first table hides a program that a rule refuses; the second leaves a process
 * running; the third exceeds a limit.
 */

import type { SandboxLevel } from "../../src/tools/sandbox/sandbox.ts";
import { DISGUISED_COMMANDS } from "./disguise-rows.ts";
import { argv, type HiddenCommand, shell } from "./hidden-command.ts";

/** Each of them would run `rm`: a rule that refuses `command(rm *)` must match every one. */
export const HIDDEN_COMMANDS: readonly HiddenCommand[] = [
  shell("plain", "rm -rf docs"),
  shell("after a semicolon", "echo ok; rm docs"),
  shell("after and", "true && rm docs"),
  shell("after or", "false || rm docs"),
  shell("in a pipe", "echo docs | rm docs"),
  shell("in the background", "sleep 1 & rm docs"),
  shell("on a second line", "echo ok\nrm docs"),
  shell("in a subshell", "(cd . && rm docs)"),
  shell("in a group", "{ rm docs; }"),
  shell("in a condition", "if rm docs; then echo; fi"),
  shell("in a loop", "while rm docs; do :; done"),
  shell("negated", "! rm docs"),
  shell("by its path", "/bin/rm docs"),
  shell("by a path with dots", "/usr/./bin/../bin/rm docs"),
  shell("in quotes", '"rm" docs'),
  shell("with quotes inside", "r''m docs"),
  shell("with a backslash", "r\\m docs"),
  shell("over a broken line", "r\\\nm docs"),
  shell("in capitals", "RM docs"),
  shell("by a variable", "X=rm; $X docs"),
  shell("by a variable inside quotes", 'X=rm; "$X" docs'),
  shell("by a substitution", "$(echo rm) docs"),
  shell("by backticks", "`echo rm` docs"),
  shell("inside a substitution", 'echo "$(rm docs)"'),
  shell("inside a process substitution", "cat <(rm docs)"),
  shell("by a pattern", "/bin/r? docs"),
  shell("by braces", "{rm,docs}"),
  shell("by an ANSI string", "$'\\x72m' docs"),
  shell("by eval", "eval 'rm docs'"),
  shell("by source", ". ./script"),
  shell("by an alias", "alias x=rm; x docs"),
  shell("by a function", "f() { rm docs; }; f"),
  shell("by a trap", "trap 'rm docs' EXIT"),
  shell("by a here-document", "sh <<E\nrm docs\nE"),
  shell("by a here-string", "bash <<< 'rm docs'"),
  shell("piped to a shell", "echo rm docs | sh"),
  shell("decoded and piped", "echo cm0gZG9jcw== | base64 -d | bash -s"),
  shell("by another PATH", "PATH=. ls"),
  shell("by a preloaded library", "LD_PRELOAD=./x.so ls"),
  shell("by xargs", "echo docs | xargs rm"),
  shell("by find", "find . -name docs -exec rm {} \\;"),
  shell("by find in the folder", "find . -execdir rm {} +"),
  shell("by find and a shell", "find . -exec sh -c 'rm \"$0\"' {} \\;"),
  shell("after a comment's line", "# harmless\nrm docs"),
  shell("by a for loop", "for x in rm; do $x docs; done"),
  argv("as words", "rm", "docs"),
  argv("env", "env", "rm", "docs"),
  argv("env with options", "env", "-i", "-u", "A", "--", "rm", "docs"),
  argv("env with a variable", "env", "A=1", "rm", "docs"),
  argv("env that splits", "env", "-S", "rm docs"),
  argv("sudo", "sudo", "-u", "root", "-n", "rm", "docs"),
  argv("doas", "doas", "-u", "root", "rm", "docs"),
  argv("nice", "nice", "-n", "5", "rm", "docs"),
  argv("nice by a bare number", "nice", "-5", "rm", "docs"),
  argv("nohup", "nohup", "rm", "docs"),
  argv("timeout", "timeout", "-k", "1", "--signal=KILL", "5", "rm", "docs"),
  argv("timeout by a shortened option", "timeout", "--sig", "KILL", "5", "rm", "docs"),
  argv("time", "time", "-f", "%e", "rm", "docs"),
  argv("stdbuf", "stdbuf", "-oL", "-e", "0", "rm", "docs"),
  argv("setsid", "setsid", "-f", "rm", "docs"),
  argv("watch", "watch", "-n", "1", "rm docs"),
  argv("busybox", "busybox", "rm", "docs"),
  argv("the loader", "/lib64/ld-linux-x86-64.so.2", "/bin/rm", "docs"),
  argv("sh -c", "sh", "-c", "rm docs"),
  argv("bash with letters together", "bash", "-lec", "echo; rm docs"),
  argv("a shell in a shell", "sh", "-c", "bash -c 'rm docs'"),
  argv("many wrappers", "nice", "nohup", "env", "timeout", "5", "sh", "-c", "rm docs"),
  argv("too many shells", ...Array.from({ length: 12 }, () => ["env"]).flat(), "rm", "docs"),
  argv("python", "python3", "-c", "import os; os.remove('docs')"),
  argv("python with letters together", "python3", "-Ic", "import os; os.remove('docs')"),
  argv("node", "node", "--eval", "fs.rmSync('docs')"),
  argv("node that prints", "node", "-p", "fs.rmSync('docs')"),
  argv("perl", "perl", "-we", "unlink 'docs'"),
  argv("ruby", "ruby", "-e", "File.delete 'docs'"),
  argv("awk", "awk", 'BEGIN { system("rm docs") }'),
  argv("sed", "sed", "1e rm docs", "file"),
  argv("sed's replacement", "sed", "s/.*/rm docs/e", "file"),
  argv("vim", "vim", "-c", "!rm docs", "-c", "q"),
  argv("tar", "tar", "-xf", "a.tar", "--to-command=rm docs"),
  argv("git's settings", "git", "-c", "core.pager=rm docs", "log"),
  argv("git's other end", "git", "fetch", "--upload-pack=rm docs", "."),
  argv("git's transport", "git", "clone", "ext::rm docs"),
  argv("git for each commit", "git", "rebase", "--exec", "rm docs", "HEAD~1"),
  argv("ssh to this machine", "ssh", "-p", "22", "localhost", "rm docs"),
  argv("ssh's own command", "ssh", "-oProxyCommand=rm docs", "x"),
  argv("a runner of packages", "npx", "--yes", "rm", "docs"),
  argv("parallel", "parallel", "rm", ":::", "docs"),
  argv("an interpreter without a file", "python3"),
  ...DISGUISED_COMMANDS,
];

export interface Outliving {
  readonly name: string;
  /** `NUMBER` is replaced by seconds that no other process sleeps for. */
  readonly script: string;
  readonly levels: readonly SandboxLevel[];
}

const ALL: readonly SandboxLevel[] = ["none", "process", "sandbox"];

/** Each leaves a process; none of them still runs when the call returns. */
export const OUTLIVING: readonly Outliving[] = [
  { name: "in the background", script: "sleep NUMBER &", levels: ALL },
  { name: "nohup", script: "nohup sleep NUMBER >/dev/null 2>&1 &", levels: ALL },
  { name: "in a session of its own", script: "setsid sleep NUMBER &", levels: ALL },
  {
    name: "forked twice",
    script: "( ( setsid sleep NUMBER </dev/null >/dev/null 2>&1 & ) & )",
    levels: ALL,
  },
  { name: "disowned", script: "bash -c 'sleep NUMBER & disown'", levels: ALL },
  { name: "from a trap at the end", script: "trap 'sleep NUMBER &' EXIT", levels: ALL },
  {
    name: "deaf to signals",
    script: "sh -c \"trap '' TERM HUP INT; sleep NUMBER; sleep NUMBER\" &",
    levels: ALL,
  },
  {
    name: "that restarts itself",
    script: "f() { sleep NUMBER; f; }; f & setsid sh -c 'while :; do sleep NUMBER; done' &",
    levels: ALL,
  },
  {
    name: "holding on to the output",
    script: "setsid sh -c 'exec sleep NUMBER' & echo done",
    levels: ALL,
  },
  {
    name: "in a session of its own and with no environment",
    script: "setsid env -i sleep NUMBER &",
    levels: ["sandbox"],
  },
];

export interface Excess {
  readonly name: string;
  /** `NUMBER` as above. */
  readonly script: string;
  readonly timeoutMs: number;
}

/** Each is stopped, and leaves nothing. */
export const EXCESSES: readonly Excess[] = [
  { name: "prints for ever", script: "yes", timeoutMs: 250 },
  { name: "prints for ever on both streams", script: "yes & yes >&2", timeoutMs: 250 },
  { name: "prints one line for ever", script: "cat /dev/zero", timeoutMs: 250 },
  { name: "never ends", script: "sleep NUMBER", timeoutMs: 200 },
  { name: "loops", script: "while :; do :; done", timeoutMs: 200 },
  {
    name: "will not be ended",
    script: "trap '' TERM INT HUP; while :; do sleep 1; done",
    timeoutMs: 200,
  },
  {
    name: "starts processes without end",
    script: "while :; do sleep NUMBER & done",
    timeoutMs: 250,
  },
  {
    name: "starts sessions without end",
    script: "while :; do setsid sleep NUMBER & done",
    timeoutMs: 250,
  },
];
