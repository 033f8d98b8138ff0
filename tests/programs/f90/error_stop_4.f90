! topas: launch=alone expect: lang=f90 exit=4 end=exit:4
program stops
  implicit none
  error stop 4
end program stops
