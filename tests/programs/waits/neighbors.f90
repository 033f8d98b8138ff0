! Waits in collectives of neighbours in Fortran: neighbors CASE FILE ROUNDS, as neighbors.c has them, of which only
! ROUNDS counts. Rank 0 is late, in a ring, and in a graph in which data go from each rank to the next. All ranks
! tell each other when they came.
program neighbors
  use mpi_f08
  implicit none
  integer, parameter :: long = selected_int_kind(18)
  integer, parameter :: gathers = 1, exchanges = 2, waits = 3
  character(len=18), parameter :: names(3) = [character(len=18) :: 'Neighbor_allgather', 'Neighbor_alltoall', 'Wait']
  integer :: rank, ranks, i, rounds, kind, before, after, ins, outs, value(2)
  integer, asynchronous :: got(2), given(2)
  integer(long) :: came, entered, left, rate, waited(3)
  integer(long), allocatable :: all_came(:)
  type(MPI_Comm) :: ring, chain
  type(MPI_Request) :: request
  character(len=16) :: word

  call get_command_argument(3, word)
  read (word, *) rounds
  call system_clock(count_rate=rate)
  waited = 0
  value = 0
  given = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (all_came(0:ranks - 1))
  before = modulo(rank - 1, ranks)
  after = modulo(rank + 1, ranks)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
  ins = merge(1, 0, rank > 0)
  outs = merge(1, 0, rank < ranks - 1)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, [before], [1], outs, [after], [1], MPI_INFO_NULL, &
    .false., chain)
  do i = 1, rounds
    call come()
    call MPI_Neighbor_allgather(value, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring)
    call system_clock(left)
    call add(gathers, [before, after])
    call come()
    call MPI_Neighbor_alltoall(value, 1, MPI_INTEGER, got, 1, MPI_INTEGER, chain)
    call system_clock(left)
    call add(exchanges, [before])
    call come()
    call MPI_Ineighbor_alltoall(given, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request)
    call system_clock(entered)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call system_clock(left)
    call add(waits, [before, after])
  end do
  call MPI_Comm_free(ring)
  call MPI_Comm_free(chain)
  do kind = gathers, waits
    write (*, '(a, i0, 1x, a, 1x, i0, 4(1x, f0.9))') 'truth ', rank, trim(names(kind)), rounds, &
      0d0, 0d0, dble(waited(kind)) / rate, 0d0
  end do
  call MPI_Finalize()

contains

  ! Rank 0 comes 2 ms after the others.
  subroutine come()
    integer(long) :: begun
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) then
      call system_clock(begun)
      do
        call system_clock(came)
        if (came - begun >= rate / 500) exit
      end do
    end if
    call system_clock(came)
    entered = came
  end subroutine come

  ! The call has waited for the last of these ranks.
  subroutine add(call_kind, sources)
    integer, intent(in) :: call_kind, sources(:)
    integer :: k
    integer(long) :: longest
    call MPI_Allgather(came, 1, MPI_INTEGER8, all_came, 1, MPI_INTEGER8, MPI_COMM_WORLD)
    longest = 0
    do k = 1, size(sources)
      if (call_kind == exchanges .and. rank == 0) cycle
      longest = max(longest, min(all_came(sources(k)), left) - entered)
    end do
    waited(call_kind) = waited(call_kind) + longest
  end subroutine add
end program neighbors
