! States with names. states
program states
  use mpi
  use topas
  implicit none
  integer :: error
  call MPI_Init(error)
  call topas_begin("solve")
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call topas_end()
  call MPI_Finalize(error)
end program
