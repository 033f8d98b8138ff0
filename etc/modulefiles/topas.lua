-- TOPAS for Lmod. The measurement module is linked into programs by drivers that stand in
-- front of mpicc, mpif90, mpiexec and the like.
help([[
Programs that are compiled and linked as usual, by mpicc, mpif90, ..., are measured when they
run. `mpicc --topas-explain ...` shows what is done. TOPAS=off switches the measurement off.
Manual pages: topas(7), topas-driver(1).
]])
whatis("Name: TOPAS")
whatis("Version: @VERSION@")
whatis("Category: performance")
whatis("Description: usage and performance statistics of every parallel program")

conflict("topas")
local root = "@PREFIX@"
setenv("TOPAS_ROOT", root)
prepend_path("PATH", pathJoin(root, "bin"))
-- man looks beside each bin of PATH only while MANPATH is unset, or for the empty entry in it.
-- The modulefiles of many MPIs set MANPATH, so the manual pages of TOPAS are named here. The
-- empty entry at the end keeps the pages that man finds without MANPATH.
prepend_path("MANPATH", pathJoin(root, "share/man"))
append_path("MANPATH", "")
-- This directory holds the names of programs that everybody has on PATH. An MPI with a modulefile
-- of its own gets a shadow, which that modulefile names: see topas mpi --help.
-- The priority keeps the directory in front of the bin of every MPI, also of those loaded later.
prepend_path{"PATH", pathJoin(root, "libexec/topas/wrappers"), delim=":", priority=100}
-- To measure serial programs as well, add the directory of their compilers, see drivers.conf:
-- prepend_path{"PATH", pathJoin(root, "libexec/topas/gnu-wrappers"), delim=":", priority=100}
