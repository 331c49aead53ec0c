#!/usr/bin/env bash
# external-search: ask a search command of yours about what the agent is going to try
#
# HOOK_SEARCH_COMMAND is the command with its options, split at spaces; the question becomes its last argument. What it
# prints is told to the agent. Without the variable, or when the search fails or takes too long, nothing is said.
# Needs jq.

set -euo pipefail # a payload that jq cannot read is reported; a search that fails is not

readonly COMMAND=${HOOK_SEARCH_COMMAND:-}
readonly QUESTION_LENGTH=200
readonly ANSWER_BYTES=6000
readonly PATIENCE=20 # seconds, fewer than a hook has

die() {
  printf 'external-search: %s\n' "$1" >&2
  exit 1
}

# The next focus if the last run named one, else its hypothesis, else what it tried.
question() {
  jq -r --argjson length "$QUESTION_LENGTH" '
    .last_run | objects | [(.asi | objects | .next_focus, .hypothesis), .description]
    | map(strings | gsub("\\s+"; " ") | sub("^[ -]+"; "") | sub(" $"; "") | select(length > 0))
    | first // "" | .[:$length]' <<<"$payload"
}

search() {
  local words
  read -ra words <<<"$COMMAND"
  if command -v timeout >/dev/null; then
    words=(timeout "$PATIENCE" "${words[@]}")
  fi
  "${words[@]}" "$1" 2>/dev/null </dev/null
}

# Reads on to the end, so that a long answer does not fail on a closed pipe.
start_of_answer() {
  head -c "$ANSWER_BYTES"
  cat >/dev/null
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
[[ -n ${COMMAND// /} ]] || exit 0
asked=$(question)
[[ -n $asked ]] || exit 0

found=$(search "$asked" | start_of_answer) || exit 0
[[ -n $found ]] || exit 0
printf 'A search for "%s" found:\n%s\n' "$asked" "$found"
