/**
 * Ways to get secrets that a command should not have: variables, files of the user, other processes. Every
 * one of them works without a sandbox, which the test shows first.
 */

export interface Probe {
  readonly name: string;
  /** `HOME_FOLDER` is replaced by the path of the user's home folder. */
  readonly script: string;
  /** The weakest level that stops it: a process of the same user can read much of another. */
  readonly heldBy: "process" | "sandbox";
  /** A program that the probe needs; without it the probe proves nothing. */
  readonly needs?: string;
}

const EVERY_PROCESS = "for p in /proc/[0-9]*; do";

export const PROBES: readonly Probe[] = [
  { name: "env", script: "env", heldBy: "process" },
  { name: "env with NULs", script: "env -0", heldBy: "process" },
  { name: "printenv", script: "printenv", heldBy: "process" },
  { name: "printenv by name", script: "printenv OPENAI_API_KEY", heldBy: "process" },
  { name: "set", script: "set", heldBy: "process" },
  { name: "export -p", script: "export -p", heldBy: "process" },
  { name: "the shell's own expansion", script: 'echo "$OPENAI_API_KEY"', heldBy: "process" },
  { name: "a name that says nothing", script: 'echo "$INNOCENT"', heldBy: "process" },
  { name: "a password in an address", script: 'echo "$DATABASE_URL"', heldBy: "process" },
  { name: "declare -x", script: "bash -c 'declare -x'", heldBy: "process", needs: "bash" },
  {
    name: "compgen",
    script: `bash -c 'for v in $(compgen -v); do echo "$v=\${!v}"; done' 2>/dev/null`,
    heldBy: "process",
    needs: "bash",
  },
  { name: "/proc/self/environ", script: "cat /proc/self/environ", heldBy: "process" },
  { name: "/proc/$$/environ", script: 'cat "/proc/$$/environ"', heldBy: "process" },
  {
    name: "xargs over the environment",
    script: "xargs -0 -n1 echo </proc/self/environ",
    heldBy: "process",
  },
  {
    name: "awk",
    script: "awk 'BEGIN { for (k in ENVIRON) print k, ENVIRON[k] }'",
    heldBy: "process",
    needs: "awk",
  },
  {
    name: "python",
    script: "python3 -c 'import os; print(dict(os.environ))'",
    heldBy: "process",
    needs: "python3",
  },
  { name: "node", script: "node -p process.env", heldBy: "process", needs: "node" },
  { name: "perl", script: "perl -e 'print %ENV'", heldBy: "process", needs: "perl" },
  { name: "the parent's variables", script: 'cat "/proc/$PPID/environ"', heldBy: "sandbox" },
  {
    name: "the parent's variables as strings",
    script: 'strings "/proc/$PPID/environ"',
    heldBy: "sandbox",
    needs: "strings",
  },
  {
    name: "everybody's variables",
    script: `${EVERY_PROCESS} cat $p/environ; done 2>/dev/null`,
    heldBy: "sandbox",
  },
  { name: "ps with variables", script: "ps axeww", heldBy: "sandbox", needs: "ps" },
  { name: "the parent's words", script: 'cat "/proc/$PPID/cmdline"', heldBy: "sandbox" },
  {
    name: "everybody's words",
    script: `${EVERY_PROCESS} cat $p/cmdline; done 2>/dev/null`,
    heldBy: "sandbox",
  },
  {
    name: "the parent's root",
    script: 'cat "/proc/$PPID/root/HOME_FOLDER/.netrc"',
    heldBy: "sandbox",
  },
  { name: "the parent's folder", script: 'cat "/proc/$PPID/cwd/.netrc"', heldBy: "sandbox" },
  {
    name: "the parent's open files",
    script:
      'for f in /proc/$PPID/fd/*; do case "$(readlink "$f")" in *credentials) cat "$f";; esac; done',
    heldBy: "sandbox",
  },
  { name: "the cloud's keys", script: "cat ~/.aws/credentials", heldBy: "process" },
  { name: "the SSH key", script: 'cat "$HOME/.ssh/id_ed25519"', heldBy: "process" },
  { name: "git's settings", script: "git config --global --list", heldBy: "process", needs: "git" },
  { name: "the shell's history", script: "cat ~/.bash_history", heldBy: "process" },
  { name: "the home folder by its path", script: "cat HOME_FOLDER/.netrc", heldBy: "sandbox" },
  {
    name: "a search through the home folder",
    script: "grep -r planted HOME_FOLDER",
    heldBy: "sandbox",
  },
  { name: "a neighbour of the workspace", script: "cat ../neighbour.txt", heldBy: "sandbox" },
  {
    name: "a link to the home folder",
    script: "ln -sf HOME_FOLDER/.netrc link && cat link",
    heldBy: "sandbox",
  },
  { name: "a file of keys in the workspace", script: "cat .env", heldBy: "sandbox" },
  { name: "a file of keys by a pattern", script: "cat .e?v", heldBy: "sandbox" },
  { name: "a file of keys below", script: "cat sub/folder/.e*", heldBy: "sandbox" },
  { name: "a folder of keys below", script: "cat sub/.ssh/*", heldBy: "sandbox" },
  { name: "what a rule denies", script: "cat de*/n*", heldBy: "sandbox" },
  { name: "all of the workspace", script: "tar cf - . 2>/dev/null", heldBy: "sandbox" },
  {
    name: "the project's own configuration",
    script: "cat .offshoot/config.yaml",
    heldBy: "sandbox",
  },
];
