//! Partitioned point-to-point communication.

use crate::row::mpi;

mpi! {
    4.0 MPI_Psend_init(
        in buf: Choice, in partitions: Int, in count: LargeCount, in datatype: Datatype,
        in dest: Rank, in tag: Tag, in comm: Comm, in info: Info, out request: Request
    ) PartitionedSend
    {
        sends buf(partitions * count * datatype) to(dest);
    }
    4.0 MPI_Precv_init(
        out buf: Choice, in partitions: Int, in count: LargeCount, in datatype: Datatype,
        in source: Rank, in tag: Tag, in comm: Comm, in info: Info, out request: Request
    ) PartitionedReceive
    {
        receives buf(partitions * count * datatype) from(source) told_by(completion);
    }
    4.0 MPI_Pready(in partition: Int, in request: Request) Partition;
    4.0 MPI_Pready_range(
        in partition_low: Int, in partition_high: Int, in request: Request
    ) Partition;
    4.0 MPI_Pready_list(
        in length: Length, in array_of_partitions: Int[length], in request: Request
    ) Partition;
    4.0 MPI_Parrived(in request: Request, in partition: Int, out flag: Logical) Partition;
}
