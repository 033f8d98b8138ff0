! Communicators, windows and files as objects.c has them: objects FILE.
program objects
  use mpi
  implicit none
  integer, parameter :: doubles = 8
  integer :: rank, error, named, split, halo, plain, file
  real(kind(1d0)) :: memory(16), other(16), values(16), sums(16)
  integer(kind=MPI_ADDRESS_KIND) :: size, place
  integer(kind=MPI_OFFSET_KIND) :: at
  character(len=512) :: path

  call get_command_argument(1, path)
  values = 0
  place = 0
  size = 16 * doubles
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, named, error)
  call MPI_Comm_set_name(named, 'columns <of> the matrix, and "all"', error)
  call MPI_Allreduce(values, sums, 1, MPI_DOUBLE_PRECISION, MPI_SUM, named, error)
  call MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, split, error)
  call MPI_Allreduce(values, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, split, error)
  call MPI_Win_create(memory, size, doubles, MPI_INFO_NULL, named, halo, error)
  call MPI_Win_set_name(halo, 'halo of the western boundary', error)
  call MPI_Win_create(other, size, doubles, MPI_INFO_NULL, MPI_COMM_WORLD, plain, error)
  call MPI_Win_fence(0, halo, error)
  call MPI_Win_fence(0, plain, error)
  call MPI_Put(values, 3, MPI_DOUBLE_PRECISION, 0, place, 3, MPI_DOUBLE_PRECISION, halo, error)
  call MPI_Put(values, 4, MPI_DOUBLE_PRECISION, 0, place, 4, MPI_DOUBLE_PRECISION, plain, error)
  call MPI_Win_fence(0, halo, error)
  call MPI_Win_fence(0, plain, error)
  call MPI_Win_free(plain, error)
  call MPI_Win_free(halo, error)
  call MPI_File_open(MPI_COMM_WORLD, trim(path), ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_INFO_NULL, file, error)
  at = rank * 128
  call MPI_File_write_at(file, at, values, 5, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
  call MPI_File_write_at_all(file, at, values, 6, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
  call MPI_File_close(file, error)
  call MPI_Comm_free(split, error)
  call MPI_Comm_free(named, error)
  call MPI_Finalize(error)
end program objects
