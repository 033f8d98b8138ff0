#%Module1.0
# TOPAS for Environment Modules. The measurement module is linked into programs by drivers
# that stand in front of mpicc, mpif90, mpiexec and the like.
proc ModulesHelp { } {
    puts stderr "Programs that are compiled and linked as usual, by mpicc, mpif90, ..., are"
    puts stderr "measured when they run. `mpicc --topas-explain ...` tells what is done,"
    puts stderr "TOPAS=off switches it off. Manual pages: topas(7), topas-driver(1)."
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
# The names of programs that everybody has on PATH; an MPI with a module of its own has a
# shadow, which its modulefile names: see topas mpi --help.
# To be loaded behind the MPI: the drivers find the next mpicc on PATH.
prepend-path PATH $root/libexec/topas/wrappers
# Serial programs, too: the directory of the compilers that are there, see drivers.conf.
# prepend-path PATH $root/libexec/topas/gnu-wrappers
