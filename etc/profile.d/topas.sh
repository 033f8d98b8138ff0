# TOPAS for everybody who logs in: link this file into /etc/profile.d. It is for systems
# whose MPI is on the PATH from the beginning; where modules bring the MPI, load the
# modulefile of TOPAS instead. Nothing is done while TOPAS is switched off for all.
if [ -d "@PREFIX@/libexec/topas/wrappers" ] && [ ! -e "@ETC@/off" ]; then
    TOPAS_ROOT="@PREFIX@"
    export TOPAS_ROOT
    case ":${PATH}:" in
        *":@PREFIX@/libexec/topas/wrappers:"*) ;;
        *) PATH="@PREFIX@/libexec/topas/wrappers:@PREFIX@/bin${PATH:+:$PATH}" ;;
    esac
    export PATH
fi
