#!/usr/bin/env bash
# Puts axe-core, which judges how accessible the pages are, into build/axe. npm comes with the system; the browser runs the script.
set -euo pipefail
cd "$(dirname "$0")/.."
target=build/axe
if cmp -s tests/browser/axe/package.json "$target/package.json" 2>/dev/null && [ -d "$target/node_modules" ]; then exit 0; fi
if ! command -v npm >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq npm >/dev/null
fi
rm -rf "$target" && mkdir -p "$target"
cp tests/browser/axe/package.json "$target/"
(cd "$target" && npm install --no-fund --no-audit --ignore-scripts --loglevel=error)
