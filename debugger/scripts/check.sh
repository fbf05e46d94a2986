#!/usr/bin/env bash
# The committed bundle is what the sources give: builds them anew and compares, byte for byte.
set -euo pipefail
cd "$(dirname "$0")/.."
if grep -q '"resolved"' package-lock.json; then
  echo "package-lock.json holds download addresses: run npm install with this folder's .npmrc" >&2
  exit 1
fi
npm ci --no-audit --no-fund --loglevel=error
npx --no-install tsc --noEmit
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
npx --no-install vite build --logLevel error --outDir "$out" --emptyOutDir
if ! diff -rq "$out" ../lctl/debugger/static; then
  echo "lctl/debugger/static is not what debugger/ gives: run npm run build there and commit both" >&2
  exit 1
fi
size=$(cat ../lctl/debugger/static/assets/debugger.* | wc -c)
if [ "$size" -gt 614400 ]; then
  echo "the bundle has $size bytes; 614400 is the most it may have" >&2
  exit 1
fi
echo "the bundle is what the sources give ($size bytes)"
