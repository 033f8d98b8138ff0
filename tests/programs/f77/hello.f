!     topas: ranks=8 static=mpich expect: lang=f77 lib=mpi end=exit:0
!     topas: expect: stdout="hello from rank   7"
!
!     Fixed form, with the old include file.
      PROGRAM HELLO
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER RANK, IERR
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERR)
      WRITE (*, '(A, I3)') 'hello from rank ', RANK
      CALL MPI_FINALIZE(IERR)
      END
