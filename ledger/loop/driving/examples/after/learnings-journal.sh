#!/usr/bin/env bash
# learnings-journal: add each run, with what was thought and learned, to a Markdown journal beside the log
#
# The journal is learnings.md in .auto or autoresearch-results, else it is named after the log, as in
# autoresearch.learnings.md. It survives every revert. Every key of the run's asi becomes a line.
# Needs jq. Says nothing to the agent.

set -euo pipefail # a journal that cannot be written is reported

readonly LINE_LENGTH=500

die() {
  printf 'learnings-journal: %s\n' "$1" >&2
  exit 1
}

# ledger names the log in LEDGER_LOG; the usual places serve whoever runs this otherwise.
find_log() {
  local place
  for place in "${LEDGER_LOG:-}" .auto/log.jsonl autoresearch.jsonl autoresearch-results/events.jsonl; do
    if [[ -f $place ]]; then
      printf '%s\n' "$place"
      return
    fi
  done
  die "no log was found; name it in LEDGER_LOG"
}

journal_of() {
  case $1 in
    .auto/log.jsonl | */.auto/log.jsonl | *events.jsonl) printf '%s/learnings.md\n' "$(dirname "$1")" ;;
    *) printf '%s.learnings.md\n' "${1%.jsonl}" ;;
  esac
}

entry() {
  jq -r --argjson length "$LINE_LENGTH" '
    def line: if type == "string" then . else tojson end | gsub("\\s+"; " ") | .[:$length];
    .session as $session | .run_entry as $run | ($session.metric_unit // "") as $unit
    | "## Run \($run.run): \($run.status)",
      "",
      "- tried: \($run.description // "" | line)",
      (if $run.status == "crash" then empty else "- \($session.metric_name): \($run.metric)\($unit)" end),
      "- best so far: \(if $session.best_metric == null then "none" else "\($session.best_metric)\($unit)" end)",
      ($run.asi | objects | to_entries[] | "- \(.key | line): \(.value | line)"),
      ""' <<<"$payload"
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
log=$(find_log)
text=$(entry) # whole, before the journal is opened
printf '%s\n\n' "$text" >>"$(journal_of "$log")"
