#!/usr/bin/env bash
# hypothesis-reflection: after a run that was not kept, set its hypothesis against the result and ask what follows
#
# Speaks when the last run was discarded, crashed, or failed its checks.
# Needs jq.

set -euo pipefail # a payload that jq cannot read is reported

readonly LINE_LENGTH=300

die() {
  printf 'hypothesis-reflection: %s\n' "$1" >&2
  exit 1
}

reflection() {
  jq -r --argjson length "$LINE_LENGTH" '
    def line: if type == "string" then . else tojson end | gsub("\\s+"; " ") | .[:$length];
    def failed: .status == "discard" or .status == "crash" or .status == "checks_failed";
    def result($session): ($session.metric_unit // "") as $unit
      | if .status == "crash" then "it crashed, so nothing was measured"
        else "\($session.metric_name) \(.metric)\($unit)"
          + (if $session.best_metric == null then "" else ", the best is \($session.best_metric)\($unit)" end)
          + (if .status == "checks_failed" then "; the checks failed" else "" end)
        end;
    .session as $session
    | .last_run | objects | select(failed)
    | (.asi | if type == "object" then . else {} end) as $asi
    | "Run \(.run) was not kept (\(.status)).",
      "- tried: \(.description // "" | line)",
      "- expected: \($asi.hypothesis // "nothing was written down; name a hypothesis next time" | line)",
      "- result: \(result($session))",
      ($asi.learned // empty | "- learned: \(line)"),
      "Before the next change, answer in a sentence each: what did this show to be wrong, would the same idea work"
      + " elsewhere, and what will you expect of the next one?"' <<<"$payload"
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
reflection
