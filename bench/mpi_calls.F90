! Blocks of calls for mpi_calls.c, by `use MODULE`, as the C function ENTRY: once for each of
! the bindings of Fortran.

subroutine block(which, calls) bind(C, name=ENTRY)
   use, intrinsic :: iso_c_binding, only: c_int
   use MODULE
   implicit none
   integer(c_int), value :: which, calls
   double precision :: a, b
   integer :: at, rank, ierror
   logical :: flag
#ifdef F08
   type(MPI_Request) :: requests(2)
#else
   integer :: requests(2)
#endif

   a = 1
   select case (which)
   case (0)
      do at = 1, calls
         call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
      end do
   case (1)
      do at = 1, calls
         call MPI_Iprobe(0, 99, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE, ierror)
      end do
   case (2)
      do at = 1, calls
         call MPI_Sendrecv(a, 1, MPI_DOUBLE_PRECISION, 0, 1, b, 1, MPI_DOUBLE_PRECISION, 0, 1, &
            MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
      end do
   case (3)
      do at = 1, calls
         call MPI_Allreduce(a, b, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_SELF, ierror)
      end do
   case default
      do at = 1, calls / 3
         call MPI_Irecv(b, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_SELF, requests(1), ierror)
         call MPI_Isend(a, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_SELF, requests(2), ierror)
         call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
      end do
   end select
end subroutine block
