module answers
  implicit none
contains
  subroutine tell()
    print '(a)', 'answer 42'
  end subroutine
end module
