! topas: ranks=8 static=mpich expect: lang=f90 lib=mpi end=exit:0
! topas: expect: stdout="hello from rank 7 of 8"
!
! Free form with the module mpi.
program hello
  use mpi
  implicit none
  integer :: rank, ranks, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  print '(a, i0, a, i0)', 'hello from rank ', rank, ' of ', ranks
  call MPI_Finalize(ierr)
end program hello
