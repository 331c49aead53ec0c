#compdef ledger
# Completes ledger in zsh: eval "$(ledger completion zsh)", or save it as _ledger in a folder of $fpath.
_ledger() {
    local value help
    local -a values shown folders
    while IFS=$'\t' read -r value help; do
        if [[ $value == */ ]]; then
            folders+=("$value")
        elif [[ -n $value ]]; then
            values+=("$value")
            shown+=("$value${help:+  -- $help}")
        fi
    done < <(
        _LEDGER_COMPLETE=zsh_complete LEDGER_LINE="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" \
            $words[1] 2>/dev/null </dev/null
    )
    (( $#values )) && compadd -Q -U -V ledger -d shown -a values
    (( $#folders )) && compadd -Q -U -V ledger -S '' -a folders
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _ledger "$@"
else
    compdef _ledger ledger
fi
