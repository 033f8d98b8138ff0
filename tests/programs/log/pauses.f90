! Pauses measuring, and computes then. pauses
program pauses
  use mpi
  implicit none
  integer :: error, rank
  double precision :: began, ended
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  began = MPI_Wtime()
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  do while (MPI_Wtime() < began + 0.2d0)
  end do
  call MPI_Pcontrol(1)
  ended = MPI_Wtime()
  call MPI_Barrier(MPI_COMM_WORLD, error)
  print '(a,i0,1x,f12.9)', 'paused ', rank, ended - began
  call MPI_Finalize(error)
end program
