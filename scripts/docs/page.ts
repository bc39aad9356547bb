/** The parts of a generated page. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../src/cli/main.ts";

const NOTE =
  "<!-- Made by `npm run docs` from the tables in src/. Change those, not this page. -->";

/** Joins the blocks of a page with blank lines; empty blocks are left out. */
export function renderPage(title: string, blocks: readonly string[]): string {
  const all = [`# ${title}`, NOTE, ...blocks];
  return `${all.filter((block) => block !== "").join("\n\n")}\n`;
}

export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/** `note` says which test runs it, as test/doc-blocks.ts reads it; readers do not see it. */
export function renderFence(language: string, text: string, note?: string): string {
  const above = note === undefined ? "" : `<!-- ${note} -->\n`;
  return `${above}\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** For pages whose blocks of these languages come from the code, which test/docs.test.ts compares. */
export function renderCompared(languages: string): string {
  return `<!-- ${languages} blocks: tested by test/docs.test.ts -->`;
}

/** Words as code, whatever is in them. */
export function renderCode(words: string): string {
  return words.includes("`") ? `\`\` ${words} \`\`` : `\`${words}\``;
}

type Environment = Readonly<Record<string, string>>;

/** What a shell shows for a command on a machine where nothing except `env` is set up. */
export async function renderTranscript(
  args: readonly string[],
  env: Environment = {},
): Promise<string> {
  const { shown, exitCode } = await call(args, env);
  const words = args.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ");
  const status = exitCode === 0 ? "" : `$ echo $?\n${exitCode}\n`;
  return renderFence("console", `$ offshoot ${words}\n${shown}${status}`);
}

async function call(
  args: readonly string[],
  env: Environment,
): Promise<{ shown: string; exitCode: number }> {
  let shown = "";
  const output = {
    isTerminal: false,
    columns: 80,
    write: (text: string): void => {
      shown += text;
    },
  };
  // A run needs an existing folder; the other commands only print its path.
  const cwd =
    args[0] === "run" ? mkdtempSync(join(tmpdir(), "offshoot-docs-")) : "/home/ada/garden";
  const exitCode = await main(args, {
    env,
    cwd,
    home: "/home/ada",
    stdin: { isTerminal: true, isPiped: false, readAll: async () => Buffer.alloc(0) },
    stdout: output,
    stderr: output,
    openTerminal: () => undefined,
    openKeys: () => undefined,
    onInterrupt: () => () => {},
    onReaderGone: () => () => {},
    leave: (code) => {
      throw new Error(`left with ${code}`);
    },
  });
  return { shown, exitCode };
}
