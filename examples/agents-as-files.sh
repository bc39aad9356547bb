#!/bin/sh
# An agent as a file of your project: who it is, what it may use, what it may spend. Needs `offshoot` on the path, and
# no key: the embedded model answers. Run it in an empty folder: `sh agents-as-files.sh`, or with
# a clone: `PATH=FOLDER_OF_THE_CLONE:$PATH sh agents-as-files.sh`.
set -e

mkdir -p .offshoot/agents
cat > .offshoot/agents/librarian.md <<'FILE'
---
name: librarian
description: Reads a file of this project and shows what it says.
model: embedded/offline
tools: [read]
budget:
  turns: 5
  tokens: 50000
---
You read files. Name the file that you have read.
FILE
echo "The library opens at nine." > hours.txt

# A file that came with a project counts after you have looked at it and trusted it.
offshoot agents trust librarian
offshoot agents check librarian

# The agent by itself. A run with the tool `subagent` can call it by its name, too.
offshoot run --quiet --agent librarian "read hours.txt"
