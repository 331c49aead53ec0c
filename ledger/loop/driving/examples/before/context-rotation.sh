#!/usr/bin/env bash
# context-rotation: every ten runs, have the agent read its prompt again and write down what it has learned
#
# A long session crowds the goal and the rules out of the agent's context. This brings them back before they are gone.
# Needs jq.

set -euo pipefail # a payload that jq cannot read is reported

readonly EVERY=10

die() {
  printf 'context-rotation: %s\n' "$1" >&2
  exit 1
}

get() {
  jq -r "$1" <<<"$payload"
}

# ledger names the log in LEDGER_LOG; the usual places serve whoever runs this otherwise.
prompt_file() {
  local log
  for log in "${LEDGER_LOG:-}" .auto/log.jsonl autoresearch.jsonl autoresearch-results/events.jsonl; do
    [[ -f $log ]] || continue
    case $log in
      .auto/log.jsonl | */.auto/log.jsonl | *events.jsonl) printf '%s/prompt.md\n' "$(dirname "$log")" ;;
      *) printf '%s/autoresearch.md\n' "$(dirname "$log")" ;;
    esac
    return
  done
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
count=$(get '.session.run_count')
((count > 0 && count % EVERY == 0)) || exit 0

prompt=$(prompt_file)
get '"\(.session.run_count) runs are logged. The goal is still: \(.session.goal // "" | gsub("\\s+"; " ") | .[:200])"'
if [[ -f $prompt ]]; then
  printf 'Before the next change, read %s again from start to end.\n' "$prompt"
  printf 'Then write to it, in a few lines, what the last %s runs have taught; drop what turned out wrong.\n' "$EVERY"
else
  printf 'Before the next change, sum up in a few lines what the last %s runs have taught.\n' "$EVERY"
fi
