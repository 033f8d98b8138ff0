! As main.c, with the ways of Fortran first.
program ends
  use, intrinsic :: iso_c_binding
#ifdef WITH_MPI
  use mpi, only: MPI_Init
#endif
  implicit none
  interface
     function end_by(way, number) bind(c)
       import :: c_char, c_int
       character(kind=c_char), intent(in) :: way(*)
       integer(c_int), value :: number
       integer(c_int) :: end_by
     end function end_by
#ifdef WITH_MPI
     function acts(state, acting_rank) bind(c)
       import :: c_char, c_int
       character(kind=c_char), intent(in) :: state(*)
       integer(c_int), value :: acting_rank
       integer(c_int) :: acts
     end function acts
#endif
  end interface
  character(len=64) :: way, text
  integer :: number, rows
  integer, pointer :: nowhere
  integer, allocatable :: rows_of(:)
  real :: x
#ifdef WITH_MPI
  character(len=16) :: state
  integer :: error, acting_rank
#endif
  call get_command_argument(1, way)
  call get_command_argument(2, text)
  read (text, *) number
#ifdef WITH_MPI
  call MPI_Init(error)
  call get_command_argument(3, state)
  call get_command_argument(4, text)
  read (text, *) acting_rank
  if (acts(trim(state)//c_null_char, int(acting_rank, c_int)) == 0) stop
#endif
  select case (way)
  case ('end')
  case ('stop')
     stop
  case ('stop_number')
     stop number
  case ('stop_text')
     stop 'no more steps'
  case ('error_stop')
     error stop
  case ('error_stop_number')
     error stop number
  case ('error_stop_text')
     error stop 'no convergence'
  case ('call_exit')
     call exit(number)
  case ('call_abort')
     call abort()
  case ('open_missing')
     open (unit=7, file='/nonexistent/input', status='old')
  case ('read_text')
     text = 'three'
     read (text, *) rows
     print *, rows
  case ('allocate_twice')
     allocate (rows_of(number))
     allocate (rows_of(number))
     print *, size(rows_of)
  case ('bounds')
     allocate (rows_of(2))
     rows_of(number) = 1
     print *, rows_of(1)
  case ('null_pointer')
     nullify (nowhere)
     nowhere = number
  case ('divide')
     rows = number / (index(way, 'd') - 1)
     print *, rows
  case ('divide_reals')
     x = real(number) / real(index(way, 'd') - 1)
     print *, x
  case default
     call exit(int(end_by(trim(way)//c_null_char, int(number, c_int))))
  end select
end program ends
