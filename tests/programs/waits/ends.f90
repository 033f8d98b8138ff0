! The wait in MPI_Finalize in Fortran: ends CASE FILE ROUNDS, as ends.c has it. Rank 0 is late by ROUNDS ms, and notes in
! the file when it comes.
program ends
  use mpi
  implicit none
  integer, parameter :: long = selected_int_kind(18)
  integer :: rank, rounds, error
  integer(long) :: entered, theirs, rate
  character(len=1024) :: notes
  character(len=16) :: word

  call get_command_argument(2, notes)
  call get_command_argument(3, word)
  read (word, *) rounds
  call system_clock(count_rate=rate)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) then
    call pass(rounds * rate / 1000)
    open (10, file=notes, status='replace')
    call system_clock(entered)
    write (10, *) entered
    close (10)
  end if
  call system_clock(entered)
  call MPI_Finalize(error)
  if (rank == 1) then
    open (10, file=notes, status='old')
    read (10, *) theirs
    write (*, '(a, 4(1x, f0.9))') 'truth 1 Finalize 1', 0d0, 0d0, dble(theirs - entered) / rate, 0d0
  end if

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
end program ends
