! Images of Fortran's coarrays add up their numbers; the last one says so.
program coarray
  implicit none
  integer :: total
  total = this_image()
  call co_sum(total)
  if (this_image() == num_images()) then
    print '(a, i0, a, i0, a, i0)', 'image ', this_image(), ' of ', num_images(), ', sum ', total
  end if
  sync all
end program coarray
