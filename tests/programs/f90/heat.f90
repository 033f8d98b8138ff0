! topas: ranks=8 args="240 12" expect: lang=f90 lib=mpi end=exit:0
! topas: expect: stdout="heat: 240 x 240 points, 12 steps, 8 ranks" stdout="largest deviation"
!
! Two-dimensional heat conduction on the unit square: du/dt = d2u/dx2 + d2u/dy2, edges
! held at temperature 0, first state sin(20 pi x) sin(50 pi y). Explicit Euler steps on a
! uniform grid of n x n inner points; the columns are distributed over the ranks, and
! neighbours exchange their edge columns before each step.
!
! The first state is an eigenvector of the discrete operator, so the exact solution of
! the difference equations is known, and the program checks itself against it: exit
! code 1 if they differ by more than rounding errors.
!
! Usage: heat [points per side [time steps]]
program heat
  use mpi
  implicit none

  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: pi = 3.141592653589793238_dp
  ! Half waves along a column and along a row: different, so that a mix-up shows.
  integer, parameter :: waves(2) = [20, 50]
  real(dp), parameter :: tolerance = 1.0e-10_dp

  real(dp), allocatable :: u(:, :), new(:, :)
  integer :: n, steps, first, columns, step, rank, ranks, left, right, ierr
  real(dp) :: h, ratio, change, deviation, amplitude, begun, seconds

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call read_arguments(n, steps)
  if (ranks > n) then
    if (rank == 0) print '(a, i0, a)', 'heat: needs at most ', n, ' ranks: one column each'
    call MPI_Finalize(ierr)
    stop 2
  end if

  call share_of(rank, first, columns)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)

  h = 1.0_dp / (n + 1)
  ! dt / h**2; explicit Euler is stable up to 1/4.
  ratio = 0.2_dp
  allocate (u(0:n + 1, 0:columns + 1), new(0:n + 1, 0:columns + 1))
  call set_first_state()

  if (rank == 0) then
    print '(a, i0, a, i0, a, i0, a, i0, a)', 'heat: ', n, ' x ', n, ' points, ', steps, &
      ' steps, ', ranks, ' ranks'
  end if
  begun = MPI_Wtime()
  do step = 1, steps
    call exchange_edges()
    call advance(change)
    if (mod(step, max(1, steps / 4)) == 0) call report(step, change)
  end do
  seconds = MPI_Wtime() - begun

  call compare(deviation)
  if (rank == 0) then
    print '(a, es10.3, a, es9.2)', 'heat: amplitude of the exact solution ', amplitude, &
      ', largest deviation ', deviation
    ! Seven operations per point and step in advance().
    print '(a, f8.3, a, f0.1, a)', 'heat: time', seconds, ' s, ', &
      7.0e-6_dp * real(n, dp)**2 * steps / seconds, ' MFlop/s in all'
  end if
  call MPI_Finalize(ierr)
  if (deviation > tolerance) stop 1

contains

  ! Points per side and number of steps from the command line.
  subroutine read_arguments(points, count)
    integer, intent(out) :: points, count
    character(len=32) :: word
    integer :: status, place, numbers(2)

    numbers = [1200, 60]
    do place = 1, min(2, command_argument_count())
      call get_command_argument(place, word)
      read (word, *, iostat=status) numbers(place)
      if (status /= 0 .or. numbers(place) < 1) then
        if (rank == 0) print '(3a)', 'heat: not a positive number: ', trim(word)
        call MPI_Finalize(status)
        stop 2
      end if
    end do
    points = numbers(1)
    count = numbers(2)
  end subroutine read_arguments

  ! The columns of a rank; the first mod(n, ranks) ranks have one more than the others.
  subroutine share_of(of, start, count)
    integer, intent(in) :: of
    integer, intent(out) :: start, count

    count = n / ranks + merge(1, 0, of < mod(n, ranks))
    start = 1 + of * (n / ranks) + min(of, mod(n, ranks))
  end subroutine share_of

  subroutine set_first_state()
    integer :: i, j

    u = 0.0_dp
    new = 0.0_dp
    do j = 1, columns
      do i = 1, n
        u(i, j) = wave(i, j)
      end do
    end do
  end subroutine set_first_state

  ! The first state at row i of our column j.
  pure function wave(i, j)
    integer, intent(in) :: i, j
    real(dp) :: wave

    wave = sin(waves(1) * pi * h * i) * sin(waves(2) * pi * h * (first + j - 1))
  end function wave

  ! Fills the columns beside ours from the neighbours; those beyond the edge stay 0.
  subroutine exchange_edges()
    call MPI_Sendrecv(u(1, columns), n, MPI_DOUBLE_PRECISION, right, 1, &
                      u(1, 0), n, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1, 1), n, MPI_DOUBLE_PRECISION, left, 2, &
                      u(1, columns + 1), n, MPI_DOUBLE_PRECISION, right, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange_edges

  ! One time step; the largest change of a point on this rank.
  subroutine advance(largest)
    real(dp), intent(out) :: largest
    real(dp), allocatable :: swap(:, :)
    integer :: i, j

    do j = 1, columns
      do i = 1, n
        new(i, j) = u(i, j) + ratio * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) &
                                       + u(i, j + 1) - 4.0_dp * u(i, j))
      end do
    end do
    largest = maxval(abs(new(1:n, 1:columns) - u(1:n, 1:columns)))
    call move_alloc(u, swap)
    call move_alloc(new, u)
    call move_alloc(swap, new)
  end subroutine advance

  ! The largest change of all ranks, printed by rank 0.
  subroutine report(at, mine)
    integer, intent(in) :: at
    real(dp), intent(in) :: mine
    real(dp) :: all

    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a, i6, a, es10.3)', 'heat: step ', at, ', largest change ', all
  end subroutine report

  ! The largest difference between the grid and the exact solution, on all ranks.
  subroutine compare(largest)
    real(dp), intent(out) :: largest
    real(dp) :: mine
    integer :: i, j

    ! Each step multiplies the eigenvector by its eigenvalue.
    amplitude = (1.0_dp - 4.0_dp * ratio * sum(sin(waves * pi * h / 2)**2))**steps
    mine = 0.0_dp
    do j = 1, columns
      do i = 1, n
        mine = max(mine, abs(u(i, j) - amplitude * wave(i, j)))
      end do
    end do
    call MPI_Allreduce(mine, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  end subroutine compare

end program heat
