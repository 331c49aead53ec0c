#!/usr/bin/env bash
# anti-thrash: ask for another approach when several runs in a row have failed
#
# Counts discarded and crashed runs at the end of the log's current segment, with the last decision about each where a
# log has decisions. A kept run ends the streak, and so does one whose checks failed; undecided ones are passed over.
# Needs jq.

set -euo pipefail # a log that cannot be read is reported

readonly RETHINK=3
readonly LINES=1000 # of the log's end; a streak that is longer than this is long enough

die() {
  printf 'anti-thrash: %s\n' "$1" >&2
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

# Prints the descriptions of the failed runs at the end, one JSON text a line. Runs are held by number, since decisions
# about them come later; a line that is not JSON is no run.
failed_in_a_row() {
  tail -n "$LINES" "$1" | jq -cnR '
    def failed: .status == "discard" or .status == "crash";
    def undecided: .status == "measured";
    reduce (inputs | fromjson? | objects) as $r ({runs: [], decided: {}};
      if $r.type == "config" then {runs: [], decided: {}}
      elif $r.type == "decision" then
        if $r.action == "stop" then . else .decided["\($r.run)"] = $r.action end
      elif $r.type == "result" and ($r.metric | type) == "string" then
        .runs += [{run: $r.run, status: (if $r.status == "crash" then "crash" else null end), text: $r.description}]
      elif $r.event != null then
        if $r.event != "iteration" then .
        else .runs += [{run: $r.iteration, status: $r.outcome, text: $r.description}] end
      elif $r.type != null and $r.type != "run" and $r.type != "result" then .
      elif ($r.run | type) == "number" and ($r.status | type) == "string" then
        .runs += [{run: $r.run, status: $r.status, text: $r.description}]
      else . end)
    | .decided as $decided
    | [.runs[] | .status = (.status // $decided["\(.run)"] // "measured") | select(undecided | not)]
    | . as $runs
    | (([range(length) | select($runs[.] | failed | not)] | max) // -1) as $other
    | .[$other + 1:][] | .text // "" | if type == "string" then . else tojson end'
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
[[ $(jq -r '.last_run == null' <<<"$payload") == false ]] || exit 0

log=$(find_log)
failed=$(failed_in_a_row "$log")
[[ -n $failed ]] || exit 0
streak=$(wc -l <<<"$failed")
((streak >= RETHINK)) || exit 0

cat <<TEXT
The last $((streak)) runs failed, one after the other. Do not try another variation of the same idea. First
- say in a sentence why each of them failed,
- read the source again for what they all took for granted,
- then choose an approach that is different in kind, or the most promising one of the ideas file.
More than 8 failed runs in a row end the session. What failed last:
TEXT
tail -n "$RETHINK" <<<"$failed" | jq -r '"- " + (gsub("\\s+"; " ") | .[:200])'
