//! Collective communication, blocking, non-blocking and persistent.
//!
//! A reduction in place takes its operands from the other buffer: they count as always. A
//! gather in place has its own block where it belongs: that moves nothing.

use crate::row::mpi;

mpi! {
    // Synchronisation, broadcast
    1.0 MPI_Barrier(in comm: Comm) Collective(Blocking)
        + Nonblocking 3.0 MPI_Ibarrier + Persistent 4.0 MPI_Barrier_init;
    1.0 MPI_Bcast(
        inout buffer: Choice, in count: Count, in datatype: Datatype, in root: Root, in comm: Comm
    ) Collective(Blocking), large(4.0)
        + Nonblocking 3.0 MPI_Ibcast + Persistent 4.0 MPI_Bcast_init
    {
        sends buffer(count * datatype) by(root);
        receives buffer(count * datatype) by(others) from(root);
    }

    // Gather, scatter
    1.0 MPI_Gather(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, out@root recvbuf: Choice,
        in@root recvcount: Count, in@root recvtype: Datatype, in root: Root, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Igather + Persistent 4.0 MPI_Gather_init
    {
        sends sendbuf(sendcount * sendtype) by(group) to(root) in_place(nothing);
        receives recvbuf(ranks * recvcount * recvtype) by(root) in_place(others);
    }
    1.0 MPI_Gatherv(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, out@root recvbuf: Choice,
        in@root recvcounts: Count[ranks], in@root displs: Displacement[ranks],
        in@root recvtype: Datatype, in root: Root, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Igatherv + Persistent 4.0 MPI_Gatherv_init
    {
        sends sendbuf(sendcount * sendtype) by(group) to(root) in_place(nothing);
        receives recvbuf(sum ranks recvcounts * recvtype) by(root) in_place(others);
    }
    1.0 MPI_Scatter(
        in@root sendbuf: Choice, in@root sendcount: Count, in@root sendtype: Datatype,
        out recvbuf: Choice, in recvcount: Count, in recvtype: Datatype, in root: Root,
        in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(recvbuf)
        + Nonblocking 3.0 MPI_Iscatter + Persistent 4.0 MPI_Scatter_init
    {
        sends sendbuf(ranks * sendcount * sendtype) by(root) in_place(others);
        receives recvbuf(recvcount * recvtype) by(group) from(root) in_place(nothing);
    }
    1.0 MPI_Scatterv(
        in@root sendbuf: Choice, in@root sendcounts: Count[ranks],
        in@root displs: Displacement[ranks], in@root sendtype: Datatype, out recvbuf: Choice,
        in recvcount: Count, in recvtype: Datatype, in root: Root, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(recvbuf)
        + Nonblocking 3.0 MPI_Iscatterv + Persistent 4.0 MPI_Scatterv_init
    {
        sends sendbuf(sum ranks sendcounts * sendtype) by(root) in_place(others);
        receives recvbuf(recvcount * recvtype) by(group) from(root) in_place(nothing);
    }
    1.0 MPI_Allgather(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, out recvbuf: Choice,
        in recvcount: Count, in recvtype: Datatype, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Iallgather + Persistent 4.0 MPI_Allgather_init
    {
        sends sendbuf(sendcount * sendtype) in_place(recvcount * recvtype);
        receives recvbuf(ranks * recvcount * recvtype) in_place(others);
    }
    1.0 MPI_Allgatherv(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, out recvbuf: Choice,
        in recvcounts: Count[ranks], in displs: Displacement[ranks], in recvtype: Datatype,
        in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Iallgatherv + Persistent 4.0 MPI_Allgatherv_init
    {
        sends sendbuf(sendcount * sendtype) in_place(own recvcounts * recvtype);
        receives recvbuf(sum ranks recvcounts * recvtype) in_place(others);
    }

    // All to all
    1.0 MPI_Alltoall(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, out recvbuf: Choice,
        in recvcount: Count, in recvtype: Datatype, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Ialltoall + Persistent 4.0 MPI_Alltoall_init
    {
        sends sendbuf(ranks * sendcount * sendtype) in_place(others ranks * recvcount * recvtype);
        receives recvbuf(ranks * recvcount * recvtype) in_place(others);
    }
    1.0 MPI_Alltoallv(
        in sendbuf: Choice, in sendcounts: Count[ranks], in sdispls: Displacement[ranks],
        in sendtype: Datatype, out recvbuf: Choice, in recvcounts: Count[ranks],
        in rdispls: Displacement[ranks], in recvtype: Datatype, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Ialltoallv + Persistent 4.0 MPI_Alltoallv_init
    {
        sends sendbuf(sum ranks sendcounts * sendtype)
            in_place(others sum ranks recvcounts * recvtype);
        receives recvbuf(sum ranks recvcounts * recvtype) in_place(others);
    }
    2.0 MPI_Alltoallw(
        in sendbuf: Choice, in sendcounts: Count[ranks], in sdispls: Displacement[ranks],
        in sendtypes: Datatype[ranks], out recvbuf: Choice, in recvcounts: Count[ranks],
        in rdispls: Displacement[ranks], in recvtypes: Datatype[ranks], in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Ialltoallw + Persistent 4.0 MPI_Alltoallw_init
    {
        sends sendbuf(typed ranks sendcounts * sendtypes)
            in_place(others typed ranks recvcounts * recvtypes);
        receives recvbuf(typed ranks recvcounts * recvtypes) in_place(others);
    }

    // Reductions
    1.0 MPI_Reduce(
        in sendbuf: Choice, out@root recvbuf: Choice, in count: Count, in datatype: Datatype,
        in op: Op, in root: Root, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Ireduce + Persistent 4.0 MPI_Reduce_init
    {
        sends sendbuf(count * datatype) by(group) to(root);
        receives recvbuf(count * datatype) by(root);
    }
    1.0 MPI_Allreduce(
        in sendbuf: Choice, out recvbuf: Choice, in count: Count, in datatype: Datatype, in op: Op,
        in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Iallreduce + Persistent 4.0 MPI_Allreduce_init
    {
        sends sendbuf(count * datatype);
        receives recvbuf(count * datatype);
    }
    2.2 MPI_Reduce_scatter_block(
        in sendbuf: Choice, out recvbuf: Choice, in recvcount: Count, in datatype: Datatype,
        in op: Op, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Ireduce_scatter_block
        + Persistent 4.0 MPI_Reduce_scatter_block_init
    {
        sends sendbuf(local * recvcount * datatype);
        receives recvbuf(recvcount * datatype);
    }
    1.0 MPI_Reduce_scatter(
        in sendbuf: Choice, out recvbuf: Choice, in recvcounts: Count[local], in datatype: Datatype,
        in op: Op, in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Ireduce_scatter + Persistent 4.0 MPI_Reduce_scatter_init
    {
        sends sendbuf(sum local recvcounts * datatype);
        receives recvbuf(own recvcounts * datatype);
    }
    1.0 MPI_Scan(
        in sendbuf: Choice, out recvbuf: Choice, in count: Count, in datatype: Datatype, in op: Op,
        in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Iscan + Persistent 4.0 MPI_Scan_init
    {
        sends sendbuf(count * datatype);
        receives recvbuf(count * datatype);
    }
    2.0 MPI_Exscan(
        in sendbuf: Choice, out recvbuf: Choice, in count: Count, in datatype: Datatype, in op: Op,
        in comm: Comm
    ) Collective(Blocking), large(4.0), in_place(sendbuf)
        + Nonblocking 3.0 MPI_Iexscan + Persistent 4.0 MPI_Exscan_init
    {
        sends sendbuf(count * datatype);
        receives recvbuf(count * datatype) by(not_first);
    }

    // Operators
    1.0 MPI_Op_create(
        in user_fn: UserFunction, in commute: Logical, out op: Op
    ) Operator, large(4.0);
    1.0 MPI_Op_free(inout op: Op) Operator;
    2.2 MPI_Op_commutative(in op: Op, out commute: Logical) Operator;
    2.2 MPI_Reduce_local(
        in inbuf: Choice, inout inoutbuf: Choice, in count: Count, in datatype: Datatype, in op: Op
    ) Operator, large(4.0);
}
