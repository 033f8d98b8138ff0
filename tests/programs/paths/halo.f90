! Recursion with automatic arrays in a module. The test finds lines by the calls in them.
module halo
  use mpi
  implicit none
contains
  recursive subroutine refine(level)
    integer, intent(in) :: level
    real(8) :: mine(2**level), all(2**level)
    integer :: ierr
    mine = level
    call MPI_Allreduce(mine, all, size(mine), MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (level > 1) call refine(level - 1)
    mine = mine + all
    if (sum(mine) < 0) print *, mine
  end subroutine
end module

program cascade
  use halo
  implicit none
  integer :: ierr, i
  call MPI_Init(ierr)
  do i = 1, 20
    call refine(3)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program
