#%Module1.0
# TOPAS for Environment Modules. The measurement module is linked into programs by drivers
# that stand in front of mpicc, mpif90, mpiexec and the like.
proc ModulesHelp { } {
    puts stderr "Programs that are compiled and linked as usual, by mpicc, mpif90, ..., are"
    puts stderr "measured when they run. `mpicc --topas-explain ...` shows what is done,"
    puts stderr "TOPAS=off switches the measurement off. Manual pages: topas(7), topas-driver(1)."
}
module-whatis "TOPAS @VERSION@: usage and performance statistics of every parallel program"

conflict topas
set root "@PREFIX@"
setenv TOPAS_ROOT $root
prepend-path PATH $root/bin
# man looks beside each bin of PATH only while MANPATH is unset, or for the empty entry in it.
# The modulefiles of many MPIs set MANPATH, so the manual pages of TOPAS are named here. The
# empty entry at the end keeps the pages that man finds without MANPATH.
prepend-path MANPATH $root/share/man
append-path MANPATH {}
# This directory holds the names of programs that everybody has on PATH. An MPI with a modulefile
# of its own gets a shadow, which that modulefile names: see topas mpi --help.
# Load this modulefile after that of the MPI, because the drivers find the next mpicc on PATH.
prepend-path PATH $root/libexec/topas/wrappers
# To measure serial programs as well, add the directory of their compilers, see drivers.conf:
# prepend-path PATH $root/libexec/topas/gnu-wrappers
