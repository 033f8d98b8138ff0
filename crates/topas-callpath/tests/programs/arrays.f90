! Recursion with automatic arrays, internal procedures, array expressions.
module deep
  implicit none
contains
  recursive subroutine down(n, total)
    integer, intent(in) :: n
    real(8), intent(inout) :: total
    real(8) :: room(n + 1), more(n + 1, 3)
    room = n
    more = spread(room, 2, 3)
    call check()
    if (n > 0) call down(n - 1, total)
    total = total + sum(room) + sum(more * 2)
    call check()
  contains
    subroutine inner()
      total = total + n
      call check()
    end subroutine
  end subroutine
end module

program arrays
  use deep
  implicit none
  real(8) :: total
  integer :: i
  total = 0
  do i = 1, 100
    call down(mod(i, 11), total)
  end do
  if (total < 0) print *, total
end program
