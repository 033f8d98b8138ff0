! What the C program calls; internal I/O needs Fortran's library.
subroutine add(to, value)
  implicit none
  integer, intent(inout) :: to
  integer, intent(in) :: value
  character(len=12) :: text

  write (text, '(i12)') to + value
  read (text, '(i12)') to
end subroutine add
