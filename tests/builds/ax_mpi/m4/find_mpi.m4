# FIND_MPI: sets MPICC, and MPI_CFLAGS and MPI_LIBS for links by the bare compiler.
AC_DEFUN([FIND_MPI], [
  AC_CHECK_PROGS([MPICC], [mpicc mpcc hcc], [no])
  AS_IF([test "$MPICC" = no], [AC_MSG_ERROR([no MPI compiler])])
  AC_CACHE_CHECK([what $MPICC adds to compile], [find_mpi_cv_cflags],
    [for find_mpi_word in `$MPICC -show`; do
      case $find_mpi_word in -I* | -D*) find_mpi_cv_cflags="$find_mpi_cv_cflags $find_mpi_word" ;; esac
    done])
  AC_CACHE_CHECK([what $MPICC adds to link], [find_mpi_cv_libs],
    [find_mpi_cv_libs=`$MPICC -show | sed 's/^[[^ ]]* *//'`])
  MPI_CFLAGS=$find_mpi_cv_cflags
  MPI_LIBS=$find_mpi_cv_libs
  AC_SUBST([MPI_CFLAGS])
  AC_SUBST([MPI_LIBS])

  find_mpi_cflags=$CFLAGS find_mpi_libs=$LIBS find_mpi_cc=$CC
  CFLAGS="$CFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
  AC_MSG_CHECKING([whether $CC links MPI with these])
  AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <mpi.h>]], [[MPI_Init(0, 0); MPI_Finalize();]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$CC cannot link MPI])])
  CFLAGS=$find_mpi_cflags LIBS=$find_mpi_libs

  CC=$MPICC
  AC_MSG_CHECKING([whether $MPICC links MPI])
  AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <mpi.h>]], [[MPI_Init(0, 0); MPI_Finalize();]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$MPICC cannot link MPI])])
  CC=$find_mpi_cc
])
