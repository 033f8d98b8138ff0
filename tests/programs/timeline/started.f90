! A ring whose ranks start to send large messages and wait for them; rank 1 is 8 ms late in each round. started ROUNDS
program started
  use mpi
  implicit none
  integer, parameter :: large = 65536
  double precision :: room(large, 2)
  integer :: rank, ranks, rounds, i, right, left, ierr, requests(2)
  character(20) :: word
  interface
    function usleep(us) bind(c)
      use iso_c_binding
      integer(c_int), value :: us
      integer(c_int) :: usleep
    end function
  end interface
  call get_command_argument(1, word)
  read (word, *) rounds
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  room = 0
  do i = 1, rounds
    if (rank == 1) ierr = usleep(8000)
    call MPI_Irecv(room(1, 1), large, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(room(1, 2), large, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(2), ierr)
    if (mod(i, 2) == 0) then
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    else
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    end if
  end do
  call MPI_Finalize(ierr)
end program
