! A program in Fortran that asks again and again until a message is there: polls CASE FILE ROUNDS, as polls.c has them, of
! which only ROUNDS counts. A message says when it was sent, so who asks for it knows how long it waited inside of calls.
program polls
  use mpi_f08
  implicit none
  integer, parameter :: long = selected_int_kind(18), most = 2000000
  integer :: rank, i, k, rounds, vain
  integer(long) :: sent, entered, left, rate, waited, least, before, asked
  integer(long), allocatable :: began(:), ended(:)
  logical :: there
  character(len=16) :: word
  type(MPI_Request) :: request

  call get_command_argument(3, word)
  read (word, *) rounds
  call system_clock(count_rate=rate)
  allocate (began(most), ended(most))
  waited = 0
  least = 0
  asked = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do i = 1, rounds
    if (rank == 0) then
      call pass(rate / 250)
      call system_clock(sent)
      call MPI_Send(sent, 1, MPI_INTEGER8, 1, 4, MPI_COMM_WORLD)
    else if (rank == 1) then
      call MPI_Irecv(sent, 1, MPI_INTEGER8, 0, 4, MPI_COMM_WORLD, request)
      vain = 0
      do
        call system_clock(entered)
        call MPI_Test(request, there, MPI_STATUS_IGNORE)
        call system_clock(left)
        asked = asked + left - entered
        if (vain == most) call MPI_Abort(MPI_COMM_WORLD, 77)
        vain = vain + 1
        began(vain) = entered
        ended(vain) = left
        if (there) exit
      end do
      do k = 1, vain
        waited = waited + max(0_long, min(sent, ended(k)) - began(k))
      end do
      ! The same if all time from then on had been in calls in vain.
      if (vain > 1) then
        before = sum(ended(:vain - 1) - began(:vain - 1)) - max(0_long, ended(vain - 1) - sent)
        least = least + max(0_long, before)
      end if
      least = least + max(0_long, min(sent, ended(vain)) - began(vain))
    end if
  end do
  if (rank == 1) write (*, '(a, i0, 4(1x, f0.9))') 'truth 1 Test ', rounds, dble(waited) / rate, &
    dble(least) / rate, 0d0, dble(asked) / rate
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
end program polls
