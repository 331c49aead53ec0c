#!/usr/bin/env bash
# document-search: look in the project's documents for what the last run was about, and quote the best passages
#
# HOOK_DOCS is the folder, relative to where the loop works, `docs` if it is not set. A passage is a paragraph of a text
# or Markdown file; the more words of the last run's next focus, hypothesis and description it has, the better.
# Needs jq.

set -euo pipefail # a payload that jq cannot read is reported; a folder without documents is not
export LC_ALL=C   # documents may be of any encoding

readonly DOCS=${HOOK_DOCS:-docs}
readonly WORDS=12
readonly WORD_LENGTH=4 # shorter ones are in every text
readonly MIN_WORDS=2   # one word in common is chance
readonly PASSAGES=3
readonly PASSAGE_BYTES=700
readonly MAX_KIB=512 # of a file

die() {
  printf 'document-search: %s\n' "$1" >&2
  exit 1
}

words() {
  jq -r --argjson count "$WORDS" --argjson length "$WORD_LENGTH" '
    .last_run | objects | [(.asi | objects | .next_focus, .hypothesis), .description]
    | map(strings | ascii_downcase | scan("[\\p{L}\\p{N}_]+") | select(length >= $length))
    | reduce .[] as $word ([]; if index($word) then . else . + [$word] end)
    | .[:$count] | join(" ")' <<<"$payload"
}

# Prints a line for each passage: how many of the words it has, its file, its text.
passages() {
  find "$DOCS" -type f \( -name '*.md' -o -name '*.txt' -o -name '*.rst' \) -size "-${MAX_KIB}k" \
    -exec env SEARCHED="$1" LEAST="$MIN_WORDS" BYTES="$PASSAGE_BYTES" awk '
      BEGIN { RS = ""; count = split(ENVIRON["SEARCHED"], words, " ") }
      {
        text = tolower($0); score = 0
        for (i = 1; i <= count; i++) if (index(text, words[i])) score++
        if (score < ENVIRON["LEAST"] + 0) next
        gsub(/[ \t\r\n]+/, " ")
        print score "\t" FILENAME "\t" substr($0, 1, ENVIRON["BYTES"] + 0)
      }' {} +
}

command -v jq >/dev/null || die "jq is needed and was not found"
payload=$(cat)
[[ -d $DOCS ]] || exit 0
searched=$(words)
[[ -n $searched ]] || exit 0

# sed reads to the end, so that sort does not fail on a closed pipe.
found=$(passages "$searched" | sort -t $'\t' -k 1,1nr -k 2,2 | sed -n "1,${PASSAGES}p")
[[ -n $found ]] || exit 0
printf 'Passages of %s that may help with the next change:\n' "$DOCS"
while IFS=$'\t' read -r _ file text; do
  printf -- '- %s: %s\n' "$file" "$text"
done <<<"$found"
