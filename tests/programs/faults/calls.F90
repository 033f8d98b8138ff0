! 25 calls of MPI on each of four ranks, by the binding that is chosen: -DF08, -DMODULE or mpif.h.
!
! profile: ranks=4
! profile: Init@all calls=1
! profile: Comm_rank@all calls=1
! profile: Comm_size@all calls=1
! profile: Comm_dup@all calls=1
! profile: Comm_set_name@all calls=1
! profile: Barrier@all calls=2
! profile: Bcast@all calls=1
! profile: Bcast@0 sent=40
! profile: Bcast@1- received=40
! profile: Allreduce@all calls=2
! profile: Reduce@all calls=1
! profile: Gather@all calls=1
! profile: Allgather@all calls=1
! profile: Alltoall@all calls=1
! profile: Irecv@all calls=1 receives=1 received=40
! profile: Isend@all calls=1 sends=1 sent=40
! profile: Waitall@all calls=1
! profile: Sendrecv@all calls=1 sends=1 sent=20 receives=1 received=20
! profile: Type_contiguous@all calls=1
! profile: Type_commit@all calls=1
! profile: Type_free@all calls=1
! profile: Comm_free@all calls=1
! profile: Get_processor_name@all calls=1
! profile: Initialized@all calls=1
! profile: Finalize@all calls=1

#ifdef F08
#define COMMUNICATOR type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#else
#define COMMUNICATOR integer
#define DATATYPE integer
#define REQUEST integer
#endif

program calls
#ifdef F08
  use mpi_f08
#endif
#ifdef MODULE
  use mpi
#endif
  implicit none
#if !defined(F08) && !defined(MODULE)
  include 'mpif.h'
#endif
  integer :: rank, ranks, error, length, left, right, i, mine(10), theirs(10), all(40), to(40)
  logical :: begun
  character(len=MPI_MAX_PROCESSOR_NAME) :: node
  COMMUNICATOR :: comm
  DATATYPE :: five
  REQUEST :: requests(2)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call MPI_Comm_set_name(comm, 'own', error)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  mine = [(rank * 100 + i, i = 1, 10)]
  call MPI_Barrier(comm, error)
  theirs = mine
  call MPI_Bcast(theirs, 10, MPI_INTEGER, 0, comm, error)
  if (theirs(10) /= 10) stop 2
  call MPI_Allreduce(mine, theirs, 10, MPI_INTEGER, MPI_SUM, comm, error)
  if (theirs(1) /= 604) stop 3
  theirs = mine
  call MPI_Allreduce(MPI_IN_PLACE, theirs, 10, MPI_INTEGER, MPI_MAX, comm, error)
  if (theirs(1) /= 301) stop 4
  call MPI_Reduce(mine, theirs, 10, MPI_INTEGER, MPI_SUM, 0, comm, error)
  call MPI_Gather(mine, 10, MPI_INTEGER, all, 10, MPI_INTEGER, 0, comm, error)
  if (rank == 0 .and. all(40) /= 310) stop 5
  call MPI_Allgather(mine, 10, MPI_INTEGER, all, 10, MPI_INTEGER, comm, error)
  if (all(40) /= 310) stop 6
  call MPI_Alltoall(all, 10, MPI_INTEGER, to, 10, MPI_INTEGER, comm, error)
  call MPI_Irecv(theirs, 10, MPI_INTEGER, left, 7, comm, requests(1), error)
  call MPI_Isend(mine, 10, MPI_INTEGER, right, 7, comm, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  if (theirs(1) /= left * 100 + 1) stop 7
  call MPI_Type_contiguous(5, MPI_INTEGER, five, error)
  call MPI_Type_commit(five, error)
  call MPI_Sendrecv(mine, 1, five, right, 8, theirs, 1, five, left, 8, comm, MPI_STATUS_IGNORE, error)
  call MPI_Type_free(five, error)
  call MPI_Get_processor_name(node, length, error)
  if (length < 1 .or. len_trim(node) < 1) stop 8
  call MPI_Initialized(begun, error)
  if (.not. begun) stop 9
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)
  if (error /= MPI_SUCCESS) stop 10
  print '(a)', 'good'
end program calls
