#!/bin/sh
# Rebuilds the page's script and style into src/rankscope/reporting/assets (or into the directory named as argument).
# Needs Node.js 20.19 or later; versions are pinned in package.json, so the same sources give the same bytes.
set -eu
cd "$(dirname "$0")"
[ -d node_modules/vite ] || npm install --no-package-lock --no-save --loglevel=error
[ $# -eq 0 ] || RANKSCOPE_ASSETS=$1
export RANKSCOPE_ASSETS="${RANKSCOPE_ASSETS:-../src/rankscope/reporting/assets}"
exec node node_modules/vite/bin/vite.js build --logLevel warn
