# Completion of @TOOL@ for fish. The tool itself tells its options, commands, fields and measures,
# so this file need not be kept up to date with them.

function __topas_options
    set -l words (commandline -opc)
    set -l help ($argv[1] --help 2>/dev/null </dev/null)
    if set -q words[2]; and contains -- $words[2] (__topas_commands $argv[1])
        set help ($argv[1] $words[2] --help 2>/dev/null </dev/null)
    end
    string match -rga -- '(?:^|[ ,])(--[a-z][a-z0-9-]*)' $help | sort -u
end

function __topas_commands
    $argv[1] --help 2>/dev/null </dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
end

function __topas_names
    for option in $argv
        topas-stat $option 2>/dev/null </dev/null | sed -n 's/^\([a-z][a-z0-9_.]*\) .*/\1/p'
    end
end

complete -c @TOOL@ -n 'string match -q -- "-*" (commandline -ct)' -a '(__topas_options @TOOL@)'
complete -c @TOOL@ -n 'test (count (commandline -opc)) -eq 1' -a '(__topas_commands @TOOL@)'
if test @TOOL@ = topas-stat
    complete -c @TOOL@ -l measure -s m -x -a '(__topas_names --list-measures)'
    for option in by columns sort
        complete -c @TOOL@ -l $option -x -a '(__topas_names --list-measures --list-fields)'
    end
end
