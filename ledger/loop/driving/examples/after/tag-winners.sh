#!/usr/bin/env bash
# tag-winners: give each kept run that is the best so far a git tag
#
# The tag is best/<goal>/run-<number>, on the run's commit. The baseline wins nothing and gets none. A kept run that
# equals the best is tagged too, since there was a reason to keep it. A tag that exists is never moved.
# Needs git and jq. Says nothing to the agent.

set -euo pipefail # a git or jq that fails is the hook's failure, and is reported

readonly TAG_PREFIX=best

die() {
  printf 'tag-winners: %s\n' "$1" >&2
  exit 1
}

get() {
  jq -r "$1" <<<"$payload"
}

is_winner() {
  [[ $(get '.run_entry.status == "keep"
    and .run_entry.metric == .session.best_metric
    and .session.best_metric != .session.baseline_metric') == true ]]
}

tag_name() {
  local goal
  goal=$(get '.session.goal // "" | ascii_downcase | gsub("[^a-z0-9]+"; "-") | .[:50] | ltrimstr("-") | rtrimstr("-")')
  printf '%s/%s/run-%s\n' "$TAG_PREFIX" "${goal:-session}" "$(get .run_entry.run)"
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
is_winner || exit 0

# A codex entry names its commit trial_commit. Without a commit there is nothing that a tag could name.
commit=$(get '.run_entry | .commit // .trial_commit // ""')
[[ $commit =~ ^[0-9a-f]{7,40}$ ]] || exit 0
git rev-parse --verify --quiet "$commit^{commit}" >/dev/null || die "no commit $commit in a repository at $PWD"

tag=$(tag_name)
git show-ref --verify --quiet "refs/tags/$tag" || git tag "$tag" "$commit"
