      program main
      include 'mpif.h'
      integer version, subversion, error
      call mpi_get_version(version, subversion, error)
      if (version .gt. 0) write (*, '(a)') 'answer 42'
      end
