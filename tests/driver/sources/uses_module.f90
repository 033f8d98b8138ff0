program main
  use answers
  call tell()
end program
