# Completes ledger in fish: ledger completion fish > ~/.config/fish/completions/ledger.fish
function __ledger_complete
    set -lx _LEDGER_COMPLETE fish_complete
    set -lx LEDGER_LINE (commandline -cp)
    command ledger 2>/dev/null </dev/null
end
complete --command ledger --no-files --arguments '(__ledger_complete)'
