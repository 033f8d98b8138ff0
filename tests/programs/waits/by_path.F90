! The same as by_path.c in Fortran: by_path ROUNDS. With -DF08 by mpi_f08, else by mpif.h.
#ifdef F08
#define USES use mpi_f08
#define DECLARES integer :: ierror
#define STATUS type(MPI_Status) :: status
#else
#define USES
#define DECLARES include 'mpif.h'
#define STATUS integer :: status(MPI_STATUS_SIZE), ierror
#endif

double precision function now()
  integer, parameter :: long = selected_int_kind(18)
  integer(long) :: count, rate
  call system_clock(count, rate)
  now = dble(count) / dble(rate)
end function now

subroutine pass(milliseconds)
  integer, intent(in) :: milliseconds
  double precision :: begun, now
  external :: now
  begun = now()
  do while (now() - begun < milliseconds * 1d-3)
  end do
end subroutine pass

subroutine send_near(sent)
  USES
  implicit none
  DECLARES
#ifndef F08
  integer :: ierror
#endif
  double precision, intent(inout) :: sent
  double precision, external :: now
  sent = now()
  call MPI_Send(sent, 1, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, ierror)
end subroutine send_near

subroutine send_far(sent)
  USES
  implicit none
  DECLARES
#ifndef F08
  integer :: ierror
#endif
  double precision, intent(inout) :: sent
  double precision, external :: now
  sent = now()
  call MPI_Send(sent, 1, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, ierror)
end subroutine send_far

subroutine near(waits)
  USES
  implicit none
  DECLARES
  STATUS
  double precision, intent(inout) :: waits
  double precision, external :: now
  double precision :: sent, entered
  entered = now()
  call MPI_Recv(sent, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, status, ierror)
  waits = waits + max(0d0, min(sent, now()) - entered)
end subroutine near

subroutine far(waits)
  USES
  implicit none
  DECLARES
  STATUS
  double precision, intent(inout) :: waits
  double precision, external :: now
  double precision :: sent, entered
  entered = now()
  call MPI_Recv(sent, 1, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, status, ierror)
  waits = waits + max(0d0, min(sent, now()) - entered)
end subroutine far

subroutine together(waits)
  USES
  implicit none
  DECLARES
#ifndef F08
  integer :: ierror
#endif
  double precision, intent(inout) :: waits
  double precision, external :: now
  double precision :: entered, last
  entered = now()
  call MPI_Allreduce(entered, last, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
  waits = waits + max(0d0, min(last, now()) - entered)
end subroutine together

program by_path
  USES
  implicit none
  DECLARES
#ifndef F08
  integer :: ierror
#endif
  integer :: rank, ranks, rounds, i
  double precision :: sent, waits(3)
  character(len=16) :: word
  character(len=8), parameter :: names(3) = [character(len=8) :: 'near', 'far', 'together']
  call get_command_argument(1, word)
  read (word, *) rounds
  waits = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  do i = 1, rounds
    if (rank == 0) then
      call pass(1)
      call send_near(sent)
      call pass(3)
      call send_far(sent)
    else
      call near(waits(1))
      call far(waits(2))
    end if
  end do
  do i = 1, rounds
    if (mod(i, ranks) == rank) call pass(2)
    call together(waits(3))
  end do
  do i = 1, 3
    write (*, '(a, i0, 1x, a, 1x, f0.9)') 'truth ', rank, trim(names(i)), waits(i)
  end do
  call MPI_Finalize(ierror)
end program by_path
