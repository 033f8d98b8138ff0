! topas: ranks=8 compiler=mpifort expect: lang=f90 lib=mpi end=exit:0
! topas: expect: stdout="hello from rank 7 of 8"
!
! The module of Fortran 2008, with typed handles.
program hello_f08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: world
  integer :: rank, ranks

  call MPI_Init()
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank)
  call MPI_Comm_size(world, ranks)
  print '(a, i0, a, i0)', 'hello from rank ', rank, ' of ', ranks
  call MPI_Finalize()
end program hello_f08
