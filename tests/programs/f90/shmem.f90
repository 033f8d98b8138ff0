! Says its PE, by OpenSHMEM.
program shmem
  implicit none
  include 'shmem.fh'
  integer, external :: shmem_my_pe, shmem_n_pes
  call shmem_init()
  print '(a,i0,a,i0,a)', 'PE ', shmem_my_pe(), ' of ', shmem_n_pes(), ': right'
  call shmem_barrier_all()
  call shmem_finalize()
end program
