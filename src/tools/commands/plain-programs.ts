/** Programs that are known to start none of the words they are given. */

const PLAIN: ReadonlySet<string> = new Set(
  [
    "ls dir cat tac head tail wc stat file du df grep egrep fgrep zgrep diff cmp comm cp mv rm rmdir ln touch",
    "mkdir mktemp chmod chown chgrp echo true false : pwd cd pushd popd dirs basename dirname realpath readlink",
    "cut tr paste join uniq nl rev fold fmt pr expand unexpand column od xxd hexdump strings iconv base64 base32",
    "md5sum sha1sum sha256sum sha512sum b2sum cksum sum date cal sleep seq yes expr bc which whereis type hash",
    "ps top kill pkill pgrep pidof uptime free uname arch hostname whoami id groups users who tty env printenv",
    "set shift exit return break continue umask ulimit times jq yq tree tee truncate dd sync shred",
    "gzip gunzip zcat bzip2 bunzip2 xz unxz zstd unzip 7z ping dig host nslookup ss netstat ifconfig route",
    "tsc eslint prettier biome jest vitest mocha ruff black mypy pyright flake8 pylint isort pytest tox",
    "rustfmt gofmt clang-format shellcheck pip pip3 gem brew dnf yum pacman apk snap gh glab hub svn",
    "mvn gradle ant terraform helm systemctl journalctl dpkg ldd nm objdump readelf ar ranlib ld as",
  ]
    .join(" ")
    .split(" "),
);

export function isPlainProgram(name: string): boolean {
  return PLAIN.has(name);
}
