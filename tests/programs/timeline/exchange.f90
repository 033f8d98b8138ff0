! A halo whose ranks exchange large messages with both neighbours, in calls that send and receive; rank 1 is 8 ms
! late in each round. At the ends of the line there is nobody. exchange ROUNDS
program exchange
  use mpi_f08
  implicit none
  integer, parameter :: cells = 60000
  integer :: rank, ranks, left, right, rounds, i
  double precision :: field(cells, 4)
  character(len=16) :: word

  call get_command_argument(1, word)
  read (word, *) rounds
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  field = rank
  do i = 1, rounds
    if (rank == 1) call pass(0.008d0)
    call MPI_Sendrecv(field(:, 2), cells, MPI_DOUBLE_PRECISION, left, 7, &
      field(:, 4), cells, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(field(:, 3), cells, MPI_DOUBLE_PRECISION, right, 8, &
      field(:, 1), cells, MPI_DOUBLE_PRECISION, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end do
  call MPI_Finalize()

contains

  ! By a clock that is not one of MPI's: millions of calls would fill the event log.
  subroutine pass(seconds)
    double precision, intent(in) :: seconds
    integer(kind=8) :: begun, now, rate
    call system_clock(begun, rate)
    now = begun
    do while (now - begun < seconds * rate)
      call system_clock(now)
    end do
  end subroutine pass
end program exchange
