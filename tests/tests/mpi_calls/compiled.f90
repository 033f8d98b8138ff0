! Collectives as a compiler of Fortran calls them: with -DF08 by the module mpi_f08, whose buffers
! may be descriptors, else by mpi. Four processes look at what arrives; what each of them should
! count is in compiled.rs.
program compiled
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: N = 4, ROOT = 1
  integer :: me, i, ranks, error
  integer :: one(3), all(3 * N), back(3 * N), counts(N), places(N), bytes(N), incoming(N)
  integer :: rows(2, N), broadcasts
  double precision :: real_in(5), real_out(5)
#ifdef F08
  type(MPI_Datatype) :: types(N)
  type(MPI_Request) :: request
#else
  integer :: types(N), request
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call must(ranks == N, __LINE__)
  one = [me, me + 10, me + 20]

  real_in = me
  broadcasts = 1
  call MPI_Bcast(real_in, 5, MPI_DOUBLE_PRECISION, ROOT, MPI_COMM_WORLD, error)
  call must(all_are(nint(real_in), ROOT), __LINE__)

  real_in = me
  call MPI_Allreduce(real_in, real_out, 5, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call must(all_are(nint(real_out), 6), __LINE__)
  call MPI_Allreduce(MPI_IN_PLACE, real_in, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, &
                     error)
  call must(all_are(nint(real_in(:2)), 3) .and. all_are(nint(real_in(3:)), me), __LINE__)

  all = -1
  call MPI_Gather(one, 3, MPI_INTEGER, all, 3, MPI_INTEGER, ROOT, MPI_COMM_WORLD, error)
  call must(me /= ROOT .or. all(3 * N) == N + 19, __LINE__)
  ! In place at the root, whose part is there.
  all = -1
  all(4:6) = one
  if (me == ROOT) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, all, 3, MPI_INTEGER, ROOT, MPI_COMM_WORLD, error)
  else
    call MPI_Gather(one, 3, MPI_INTEGER, all, 0, MPI_INTEGER, ROOT, MPI_COMM_WORLD, error)
  end if
  call must(me /= ROOT .or. (all(3) == 20 .and. all(6) == 21 .and. all(9) == 22), __LINE__)

  ! Process i sends i elements.
  counts = [(i, i = 0, N - 1)]
  places = [(3 * i, i = 0, N - 1)]
  all = -1
  call MPI_Gatherv(one, me, MPI_INTEGER, all, counts, places, MPI_INTEGER, ROOT, MPI_COMM_WORLD, &
                   error)
  call must(me /= ROOT .or. count(all /= -1) == 6, __LINE__)

  all = [(i, i = 1, 3 * N)]
  call MPI_Scatter(all, 3, MPI_INTEGER, one, 3, MPI_INTEGER, ROOT, MPI_COMM_WORLD, error)
  call must(one(3) == 3 * me + 3, __LINE__)

  all = me
  call MPI_Alltoall(all, 2, MPI_INTEGER, back, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
  call must(all_are(back(2 * N - 1:2 * N), N - 1), __LINE__)

  ! Everybody sends i elements to process i.
  incoming = me
  back = -1
  call MPI_Alltoallv(all, counts, places, MPI_INTEGER, back, incoming, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, error)
  call must(count(back /= -1) == N * me, __LINE__)
  ! The same, but what goes to the last process and comes from it is of bytes.
  bytes = 4 * places
  back = -1
  if (me == N - 1) then
    types = MPI_BYTE
    call MPI_Alltoallw(all, counts * 4, bytes, types, back, incoming * 4, bytes, types, &
                       MPI_COMM_WORLD, error)
  else
    types = MPI_INTEGER
    types(N) = MPI_BYTE
    call MPI_Alltoallw(all, counts * [1, 1, 1, 4], bytes, types, back, incoming * [1, 1, 1, 4], &
                       bytes, types, MPI_COMM_WORLD, error)
  end if
  call must(count(back /= -1) == N * me, __LINE__)

  call MPI_Reduce(one, all, 3, MPI_INTEGER, MPI_SUM, ROOT, MPI_COMM_WORLD, error)
  call must(me /= ROOT .or. all(1) == 22, __LINE__)
  call MPI_Scan(one, all, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  call must(all(1) == one(1), __LINE__)

  call begin(real_in)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call must(all_are(nint(real_in), ROOT), __LINE__)

#ifdef F08
  ! Every other element: no address tells where they are.
  if (MPI_SUBARRAYS_SUPPORTED) then
    rows(1, :) = me
    rows(2, :) = -1
    broadcasts = 2
    call MPI_Bcast(rows(1, :), N, MPI_INTEGER, ROOT, MPI_COMM_WORLD, error)
    call must(all_are(rows(1, :), ROOT) .and. all_are(rows(2, :), -1), __LINE__)
  end if
#endif

  if (me == 0) print '(a, i0)', 'broadcasts ', broadcasts
  call MPI_Finalize(error)

contains

  subroutine begin(buffer)
    double precision, intent(inout), asynchronous :: buffer(5)
    buffer = me
    call MPI_Ibcast(buffer, 5, MPI_DOUBLE_PRECISION, ROOT, MPI_COMM_WORLD, request, error)
  end subroutine

  pure logical function all_are(values, value)
    integer, intent(in) :: values(:), value
    integer :: k
    all_are = .true.
    do k = 1, size(values)
      if (values(k) /= value) all_are = .false.
    end do
  end function

  subroutine must(fine, line)
    logical, intent(in) :: fine
    integer, intent(in) :: line
    integer :: ignored
    if (fine) return
    print *, 'process', me, 'line', line
    call MPI_Abort(MPI_COMM_WORLD, 3, ignored)
  end subroutine
end program
