! Says its PE, by OpenSHMEM. Through C's names: Debian's library has none for Fortran.
program shmem
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    subroutine shmem_init() bind(c)
    end subroutine
    integer(c_int) function shmem_my_pe() bind(c)
      import
    end function
    integer(c_int) function shmem_n_pes() bind(c)
      import
    end function
    subroutine shmem_barrier_all() bind(c)
    end subroutine
    subroutine shmem_finalize() bind(c)
    end subroutine
  end interface
  call shmem_init()
  print '(a,i0,a,i0,a)', 'PE ', shmem_my_pe(), ' of ', shmem_n_pes(), ': right'
  call shmem_barrier_all()
  call shmem_finalize()
end program
