! topas: launch=alone expect: lang=f90 end=exit:0
program stops
  implicit none
  stop
end program stops
