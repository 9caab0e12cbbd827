# Completion of kubectl-inplace for fish: the program itself answers. kubectl-inplace completion fish | source
function __kubectl_inplace_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l answer ($program __complete $words "$typed" 2>/dev/null)
    if test "$answer[-1]" = :0
        # Of --flag=VALUE the value is a path, and what is answered is the whole word.
        set -l flag (string match -r -- '^-[^=]*=' "$typed")
        set -l value (string sub -s (math (string length -- "$flag") + 1) -- "$typed")
        for path in (__fish_complete_path "$value")
            printf '%s\n' "$flag$path"
        end
        return
    end
    set -e answer[-1]
    printf '%s\n' $answer
end
complete -c kubectl-inplace -f -a '(__kubectl_inplace_complete)'
