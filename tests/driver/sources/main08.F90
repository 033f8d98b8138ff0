#ifndef ANSWER
#define ANSWER 'answer 42'
#endif
program main
  use mpi_f08
  implicit none
  integer :: version, subversion
  call mpi_get_version(version, subversion)
  if (version > 0) print '(a)', ANSWER
end program
