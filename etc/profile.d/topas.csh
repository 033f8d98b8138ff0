# TOPAS for everybody who logs in: link this file into /etc/profile.d; see topas.sh.
if ( -d "@PREFIX@/libexec/topas/wrappers" && ! -e "@ETC@/off" ) then
    setenv TOPAS_ROOT "@PREFIX@"
    if ( ":${PATH}:" !~ *":@PREFIX@/libexec/topas/wrappers:"* ) then
        setenv PATH "@PREFIX@/libexec/topas/wrappers:@PREFIX@/bin:${PATH}"
    endif
    # The empty entry at the end keeps the pages that man finds without MANPATH.
    if ( ! $?MANPATH ) then
        setenv MANPATH "@PREFIX@/share/man:"
    else if ( ":${MANPATH}:" !~ *":@PREFIX@/share/man:"* ) then
        setenv MANPATH "@PREFIX@/share/man:${MANPATH}"
    endif
endif
