# Completion of the tools of TOPAS for bash. The tools themselves tell their options, commands,
# fields and measures, so this file need not be kept up to date with them.

# The names that a tool prints with one of these options, each at the beginning of a line.
_topas_names() {
    local tool=$1 option
    shift
    for option in "$@"; do
        "$tool" "$option" 2>/dev/null </dev/null | sed -n 's/^\([a-z][a-z0-9_.]*\) .*/\1/p'
    done
}

_topas_complete() {
    local tool=${1/#\~\//$HOME/} word=$2 before=$3 help commands command='' names='' list='' at
    COMPREPLY=()
    help=$("$tool" --help 2>/dev/null </dev/null) || return 0
    commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
        -*) ;;
        *)
            command=${COMP_WORDS[at]}
            break
            ;;
        esac
    done
    if [[ -n $commands && -n $command ]]; then
        if grep -qxF -- "$command" <<<"$commands"; then
            help=$("$tool" "$command" --help 2>/dev/null </dev/null)
        fi
    fi
    case ${tool##*/}:$before in
    topas-stat:--measure | topas-stat:-m)
        names=$(_topas_names "$tool" --list-measures)
        ;;
    topas-stat:--by | topas-stat:--columns | topas-stat:--sort | topas-stat:--where | topas-stat:-w)
        names=$(_topas_names "$tool" --list-measures --list-fields)
        ;;
    topasview:--column | topasview:--sort | topasview:--stat)
        names=$(sed -n 's/^Columns: \(.*\)\.$/\1/p' <<<"$help")
        ;;
    esac
    if [[ -n $names ]]; then
        # Of a list, the last name is completed.
        [[ $word == *,* ]] && list=${word%,*},
        COMPREPLY=($(compgen -P "$list" -W "$names" -- "${word##*,}"))
    elif [[ $word == -* ]]; then
        names=$(grep -oE -- '(^|[ ,])--?[a-zA-Z][a-zA-Z0-9-]*' <<<"$help" | tr -d ' ,' | sort -u)
        COMPREPLY=($(compgen -W "$names" -- "$word"))
    elif [[ -n $commands && -z $command ]]; then
        COMPREPLY=($(compgen -W "$commands" -- "$word"))
    elif [[ -z $command && ${tool##*/} == @(topas|topas-run) ]]; then
        COMPREPLY=($(compgen -c -- "$word"))
    fi
}

complete -o default -F _topas_complete \
    topas topas-doctor topas-log topas-mpi topas-report topas-run topas-stat topas-top topasview
