! Waits in Fortran: late CASE FILE ROUNDS, as waits.c has them, of which only ROUNDS counts. A message says
! when it was sent, so who receives it knows how long it waited.
program late
  use mpi_f08
  implicit none
  integer, parameter :: long = selected_int_kind(18)
  integer :: rank, i, rounds, kind
  integer(long) :: sent, entered, left, rate
  integer(long) :: waited(2), calls(2)
  character(len=16) :: word
  character(len=4), parameter :: names(2) = ['Recv', 'Wait']
  type(MPI_Request) :: request

  call get_command_argument(3, word)
  read (word, *) rounds
  call system_clock(count_rate=rate)
  waited = 0
  calls = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do i = 1, rounds
    kind = 1 + mod(i, 2)
    if (rank == 0) then
      call pass(rate / 500)
      call system_clock(sent)
      call MPI_Send(sent, 1, MPI_INTEGER8, 1, i, MPI_COMM_WORLD)
    else if (rank == 1) then
      if (kind == 1) then
        call system_clock(entered)
        call MPI_Recv(sent, 1, MPI_INTEGER8, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      else
        call MPI_Irecv(sent, 1, MPI_INTEGER8, 0, i, MPI_COMM_WORLD, request)
        call pass(rate / 1000)
        call system_clock(entered)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
      end if
      call system_clock(left)
      waited(kind) = waited(kind) + max(0_long, min(sent, left) - entered)
      calls(kind) = calls(kind) + 1
    end if
  end do
  if (rank == 1) then
    do kind = 1, 2
      write (*, '(a, a, a, i0, 4(1x, f0.9))') 'truth 1 ', names(kind), ' ', calls(kind), &
        dble(waited(kind)) / rate, 0d0, 0d0, 0d0
    end do
  end if
  call MPI_Finalize()

contains

  subroutine pass(ticks)
    integer(long), intent(in) :: ticks
    integer(long) :: begun, now
    call system_clock(begun)
    do
      call system_clock(now)
      if (now - begun >= ticks) exit
    end do
  end subroutine pass
end program late
