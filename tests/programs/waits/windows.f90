! Waits at windows in Fortran: windows CASE FILE ROUNDS, as windows.c has them, of which only ROUNDS counts. Rank 0
! posts its window late, and rank 1 ends its access late. They tell each other when they did that.
program windows
  use mpi
  implicit none
  integer, parameter :: long = selected_int_kind(18)
  integer, parameter :: start = 1, complete = 2, wait = 3
  integer :: rank, i, rounds, error, win, all, group, memory(4), value, bytes, kind
  integer(long) :: told, theirs, entered(3), left(3), rate
  integer(long) :: waited(3)
  integer(kind=MPI_ADDRESS_KIND) :: size, place
  character(len=16) :: word
  character(len=12), parameter :: names(3) = [character(len=12) :: 'Win_start', 'Win_complete', 'Win_wait']

  call get_command_argument(3, word)
  read (word, *) rounds
  call system_clock(count_rate=rate)
  waited = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  bytes = storage_size(value) / 8
  size = 4 * bytes
  place = 1
  call MPI_Win_create(memory, size, bytes, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call MPI_Win_get_group(win, all, error)
  if (rank < 2) call MPI_Group_incl(all, 1, [1 - rank], group, error)
  do i = 1, rounds
    value = i
    if (rank == 0) then
      call pass(rate / 500)
      call system_clock(told)
      call MPI_Win_post(group, 0, win, error)
      call system_clock(entered(wait))
      call MPI_Win_wait(win, error)
      call system_clock(left(wait))
      call tell(1)
      call add(wait)
    else if (rank == 1) then
      call system_clock(entered(start))
      call MPI_Win_start(group, 0, win, error)
      call system_clock(left(start))
      call MPI_Put(value, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, win, error)
      call pass(rate / 500)
      call system_clock(told)
      entered(complete) = told
      call MPI_Win_complete(win, error)
      call system_clock(left(complete))
      call tell(0)
      call add(start)
      call add(complete)
    end if
  end do
  if (rank < 2) call MPI_Group_free(group, error)
  call MPI_Group_free(all, error)
  call MPI_Win_free(win, error)
  do kind = merge(start, wait, rank == 1), merge(complete, wait, rank == 1)
    if (rank < 2) write (*, '(a, i0, 1x, a, 1x, i0, 4(1x, f0.9))') 'truth ', rank, trim(names(kind)), rounds, &
      dble(waited(kind)) / rate, 0d0, 0d0, 0d0
  end do
  call MPI_Finalize(error)

contains

  ! Each rank tells the other when it did what that waits for.
  subroutine tell(other)
    integer, intent(in) :: other
    call MPI_Sendrecv(told, 1, MPI_INTEGER8, other, 1, theirs, 1, MPI_INTEGER8, other, 1, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, error)
  end subroutine tell

  ! What is told after a call has ended was not waited for.
  subroutine add(call_kind)
    integer, intent(in) :: call_kind
    if (theirs <= left(call_kind)) then
      waited(call_kind) = waited(call_kind) + max(0_long, theirs - entered(call_kind))
    end if
  end subroutine add

  subroutine pass(ticks)
    integer(long), intent(in) :: ticks
    integer(long) :: begun, now
    call system_clock(begun)
    do
      call system_clock(now)
      if (now - begun >= ticks) exit
    end do
  end subroutine pass
end program windows
