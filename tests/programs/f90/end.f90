! topas: launch=alone expect: lang=f90 end=exit:0 stdout="after the loop 45"
program ends
  implicit none
  integer :: i, total

  total = 0
  do i = 0, 9
    total = total + i
  end do
  print '(a, i0)', 'after the loop ', total
end program ends
