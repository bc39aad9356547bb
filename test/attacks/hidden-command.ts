/** One command of the tables of `command-rows.ts` and `disguise-rows.ts`, in either form. */

export interface HiddenCommand {
  readonly name: string;
  readonly command: { readonly shell: string } | { readonly argv: readonly string[] };
}

export function shell(name: string, text: string): HiddenCommand {
  return { name, command: { shell: text } };
}

export function argv(name: string, ...words: string[]): HiddenCommand {
  return { name, command: { argv: words } };
}
