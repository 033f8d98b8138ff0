! topas: launch=alone expect: lang=f90 exit=3 end=exit:3
program stops
  implicit none
  stop 3
end program stops
