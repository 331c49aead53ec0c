# Completes ledger in bash: eval "$(ledger completion bash)"
_ledger() {
    local value help whole=
    COMPREPLY=()
    while IFS=$'\t' read -r value help; do
        [ -n "$value" ] || continue
        COMPREPLY+=("$value")
        case $value in */) ;; *) whole=1 ;; esac
    done < <(
        _LEDGER_COMPLETE=bash_complete LEDGER_LINE=${COMP_LINE:0:COMP_POINT} LEDGER_WORD=$2 \
            "${1/#\~/$HOME}" 2>/dev/null </dev/null
    )
    # A folder is to be gone on with. Versions before 4 know no compopt.
    [ -n "$whole" ] || ! type compopt >/dev/null 2>&1 || compopt -o nospace
}
complete -o nosort -F _ledger ledger 2>/dev/null || complete -F _ledger ledger
