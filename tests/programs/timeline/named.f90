! topas: ranks=3 expect: lang=f90 lib=mpi end=exit:0
!
! The same in Fortran, whose names are filled up with blanks: one with a name, one without.
program named
  use mpi
  implicit none

  integer :: comms(2), i, ierr
  double precision :: in(8), out(8)
  character(len=40) :: name

  in = 0
  call MPI_Init(ierr)
  do i = 1, 2
    call MPI_Comm_dup(MPI_COMM_WORLD, comms(i), ierr)
  end do
  name = "of Fortran"
  call MPI_Comm_set_name(comms(1), name, ierr)
  do i = 1, 2
    call MPI_Allreduce(in, out, i, MPI_DOUBLE_PRECISION, MPI_SUM, comms(i), ierr)
  end do
  do i = 1, 2
    call MPI_Comm_free(comms(i), ierr)
  end do
  call MPI_Finalize(ierr)
end program named
