! States of a program in the event log of its MPI calls (topas-run --mpi=log):
!
!   use topas
!   call topas_begin("solve")
!   ...
!   call topas_end()
!
! Compile this file with the program: files of modules are those of one compiler. Each is a call of
! MPI_Pcontrol with a level that MPI leaves to tools. So a program needs nothing but its MPI to link,
! and without a log these do nothing. They may be nested, and are for the time between MPI_Init and
! MPI_Finalize. Of a name the first 24 bytes are kept.
module topas
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  implicit none
  private
  public :: topas_begin, topas_end

  interface
    integer(c_int) function pcontrol(level, name) bind(c, name="MPI_Pcontrol")
      import :: c_char, c_int
      integer(c_int), value :: level
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface

contains

  subroutine topas_begin(name)
    character(len=*), intent(in) :: name
    integer(c_int) :: ignored
    ignored = pcontrol(int(z'746f7001', c_int), trim(name) // c_null_char)
  end subroutine

  subroutine topas_end()
    integer(c_int) :: ignored
    ignored = pcontrol(int(z'746f7002', c_int), c_null_char)
  end subroutine
end module
