! Rank 1 starts two ranks of the program that the argument names.
program master
  use mpi
  implicit none
  integer :: workers, error
  character(len=1000) :: worker
  character(len=8) :: words(2)
  call get_command_argument(1, worker)
  words = [character(len=8) :: 'alone', ' ']
  call MPI_Init(error)
  call MPI_Comm_spawn(worker, words, 2, MPI_INFO_NULL, 1, MPI_COMM_WORLD, workers, &
       MPI_ERRCODES_IGNORE, error)
  call MPI_Comm_disconnect(workers, error)
  call MPI_Finalize(error)
end program
