#!/usr/bin/env bash
# desktop-notification: tell a person on the desktop when a kept run is the new best
#
# By notify-send where there is one, else by osascript (macOS), else not at all. The baseline is no news.
# Needs jq. Says nothing to the agent.

set -euo pipefail # a payload that jq cannot read is reported; a desktop that shows nothing is not

readonly TITLE_LENGTH=60
readonly TEXT_LENGTH=200

die() {
  printf 'desktop-notification: %s\n' "$1" >&2
  exit 1
}

get() {
  jq -r --argjson title "$TITLE_LENGTH" --argjson text "$TEXT_LENGTH" "$1" <<<"$payload"
}

is_new_best() {
  [[ $(get '.run_entry.status == "keep"
    and .run_entry.metric == .session.best_metric
    and .session.best_metric != .session.baseline_metric') == true ]]
}

# The texts go as arguments, never into a program's text, so that no quote in them means anything.
notify() {
  if command -v notify-send >/dev/null; then
    notify-send -- "$1" "$(jq -rn --arg text "$2" '$text | @html')" # its body is markup
  elif command -v osascript >/dev/null; then
    osascript -e 'on run argv' -e 'display notification (item 2 of argv) with title (item 1 of argv)' -e 'end run' \
      "$1" "$2"
  fi
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
is_new_best || exit 0

title=$(get '"New best: \(.session.goal // "" | gsub("\\s+"; " ") | .[:$title])"')
body=$(get '(.session.metric_unit // "") as $unit
  | "\(.session.metric_name) \(.run_entry.metric)\($unit) in run \(.run_entry.run)"
    + " (baseline \(.session.baseline_metric)\($unit)): "
    + (.run_entry.description // "" | gsub("\\s+"; " ") | .[:$text])')
notify "$title" "$body" >/dev/null 2>&1 || true
