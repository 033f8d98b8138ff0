program main
  use mpi
  implicit none
  integer :: version, subversion, error
  call mpi_get_version(version, subversion, error)
  if (version > 0) print '(a)', 'answer 42'
end program
