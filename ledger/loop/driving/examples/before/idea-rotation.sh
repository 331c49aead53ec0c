#!/usr/bin/env bash
# idea-rotation: suggest the next idea of the ideas file that is not ticked off, another one each time
#
# An idea is an item of a list, `- text` or `- [ ] text`; `- [x] text` and `- ~~text~~` are done. The number of the next
# run chooses, so that nothing has to be remembered: run by run it goes through the list and starts again at its end.
# Needs jq.

set -euo pipefail # an ideas file that cannot be read is reported; one that is not there is not

readonly LENGTH=500

die() {
  printf 'idea-rotation: %s\n' "$1" >&2
  exit 1
}

# ledger names the log in LEDGER_LOG; the usual places serve whoever runs this otherwise.
ideas_file() {
  local log
  for log in "${LEDGER_LOG:-}" .auto/log.jsonl autoresearch.jsonl autoresearch-results/events.jsonl; do
    [[ -f $log ]] || continue
    case $log in
      .auto/log.jsonl | */.auto/log.jsonl | *events.jsonl) printf '%s/ideas.md\n' "$(dirname "$log")" ;;
      *) printf '%s/autoresearch.ideas.md\n' "$(dirname "$log")" ;;
    esac
    return
  done
}

open_ideas() {
  sed -nE \
    -e '/^[[:space:]]*[-*+][[:space:]]+(\[[xX]\]|(\[ \][[:space:]]*)?~~)/d' \
    -e 's/^[[:space:]]*[-*+][[:space:]]+(\[ \][[:space:]]*)?([^[:space:]].*)$/\2/p' "$1" |
    tr -d '\r'
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
file=$(ideas_file)
[[ -f $file ]] || exit 0
ideas=$(open_ideas "$file")
[[ -n $ideas ]] || exit 0

count=$(($(wc -l <<<"$ideas")))
next=$(jq -r '.next_run' <<<"$payload")
idea=$(sed -n "$(((next - 1) % count + 1))p" <<<"$ideas")
printf 'An idea that is not tried yet (%s open in %s): %s\n' "$count" "$file" "${idea:0:LENGTH}"
echo "If it fits what you know by now, try it next. Tick it off in the file once it was tried or has lost its sense."
