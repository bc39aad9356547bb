/**
 * Kinds of files and their names in plain English. Each kind is a row; its first name is the one that is
 * shown.
 */

interface FileKind {
  readonly names: readonly string[];
  readonly extensions: readonly string[];
}

const FILE_KINDS: readonly FileKind[] = [
  { names: ["TypeScript", "ts"], extensions: ["ts", "tsx", "mts", "cts"] },
  { names: ["JavaScript", "js"], extensions: ["js", "jsx", "mjs", "cjs"] },
  { names: ["Python", "py"], extensions: ["py", "pyi"] },
  { names: ["Markdown", "md"], extensions: ["md", "markdown"] },
  { names: ["JSON"], extensions: ["json", "jsonc", "jsonl"] },
  { names: ["YAML", "yml"], extensions: ["yaml", "yml"] },
  { names: ["TOML"], extensions: ["toml"] },
  { names: ["XML"], extensions: ["xml"] },
  { names: ["HTML"], extensions: ["html", "htm"] },
  { names: ["CSS", "stylesheet", "style"], extensions: ["css", "scss", "sass", "less"] },
  { names: ["shell", "bash", "sh"], extensions: ["sh", "bash", "zsh"] },
  { names: ["PowerShell"], extensions: ["ps1", "psm1"] },
  { names: ["Rust", "rs"], extensions: ["rs"] },
  { names: ["Go", "golang"], extensions: ["go"] },
  { names: ["Java"], extensions: ["java"] },
  { names: ["Kotlin"], extensions: ["kt", "kts"] },
  { names: ["Swift"], extensions: ["swift"] },
  { names: ["C++", "cpp"], extensions: ["cpp", "cc", "cxx", "hpp"] },
  { names: ["C#", "csharp"], extensions: ["cs"] },
  { names: ["C"], extensions: ["c", "h"] },
  { names: ["Ruby", "rb"], extensions: ["rb"] },
  { names: ["PHP"], extensions: ["php"] },
  { names: ["Perl"], extensions: ["pl", "pm"] },
  { names: ["Lua"], extensions: ["lua"] },
  { names: ["Scala"], extensions: ["scala"] },
  { names: ["Haskell"], extensions: ["hs"] },
  { names: ["Elixir"], extensions: ["ex", "exs"] },
  { names: ["Zig"], extensions: ["zig"] },
  { names: ["Vue"], extensions: ["vue"] },
  { names: ["Svelte"], extensions: ["svelte"] },
  { names: ["SQL"], extensions: ["sql"] },
  { names: ["CSV"], extensions: ["csv"] },
  { names: ["text", "txt", "plain text"], extensions: ["txt"] },
  { names: ["PDF"], extensions: ["pdf"] },
  {
    names: ["image", "picture", "photo"],
    extensions: ["png", "jpg", "jpeg", "gif", "webp", "svg"],
  },
  { names: ["log"], extensions: ["log"] },
  { names: ["GGUF"], extensions: ["gguf"] },
];

/** The source of a regular expression for every way to name a kind, such as `*.ext` and `.ext`. */
export const KIND_PATTERN = [
  ...FILE_KINDS.flatMap(({ names }) => names)
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[+]/g, "\\+").replace(" ", "\\s+")),
  "\\*?\\.[a-z]\\w*",
].join("|");

/** The kind that a text names. `*.xyz` names a kind of its own, even if it is not in the table. */
export function findKind(text: string): {
  readonly label: string;
  readonly extensions: readonly string[];
} {
  const wanted = text.toLowerCase().replace(/\s+/g, " ");
  const row = FILE_KINDS.find(({ names }) => names.some((name) => name.toLowerCase() === wanted));
  if (row) return { label: row.names[0] ?? wanted, extensions: row.extensions };
  const extension = text.replace(/^\*?\./, "");
  return { label: `.${extension}`, extensions: [extension] };
}

/** True for files that are not text: searches and line counts skip their contents. */
export function isBinaryName(path: string): boolean {
  return /\.(png|jpe?g|gif|webp|ico|bmp|pdf|zip|gz|tgz|bz2|xz|7z|jar|wasm|node|so|dylib|dll|exe|bin|gguf|sqlite|db|woff2?|ttf|otf|mp[34]|mov|wav|ogg)$/i.test(
    path,
  );
}
