program main
  use iso_c_binding
  interface
    integer(c_int) function part() bind(c)
      import
    end function
  end interface
  print '(a, i0)', 'answer ', part()
end program
