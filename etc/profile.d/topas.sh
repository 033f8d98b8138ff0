# TOPAS for everybody who logs in: link this file into /etc/profile.d. It is for systems
# whose MPI is on PATH from the beginning. Where modules bring the MPI, load the modulefile
# of TOPAS instead. While TOPAS is switched off for everybody, this file does nothing.
if [ -d "@PREFIX@/libexec/topas/wrappers" ] && [ ! -e "@ETC@/off" ]; then
    TOPAS_ROOT="@PREFIX@"
    export TOPAS_ROOT
    case ":${PATH}:" in
        *":@PREFIX@/libexec/topas/wrappers:"*) ;;
        *) PATH="@PREFIX@/libexec/topas/wrappers:@PREFIX@/bin${PATH:+:$PATH}" ;;
    esac
    export PATH
    # The modulefiles of many MPIs set MANPATH, and man then no longer looks beside each bin
    # of PATH. The empty entry at the end keeps the pages that man finds without MANPATH.
    case ":${MANPATH-}:" in
        *":@PREFIX@/share/man:"*) ;;
        *) MANPATH="@PREFIX@/share/man:${MANPATH-}" ;;
    esac
    export MANPATH
fi
