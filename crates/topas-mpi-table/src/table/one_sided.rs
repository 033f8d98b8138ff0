//! One-sided communication.

use crate::row::mpi;

mpi! {
    // Windows
    2.0 MPI_Win_create(
        inout base: Choice, in size: Aint, in disp_unit: Displacement, in info: Info, in comm: Comm,
        out win: Win
    ) Window, large(4.0), waits(Group);
    3.0 MPI_Win_allocate(
        in size: Aint, in disp_unit: Displacement, in info: Info, in comm: Comm,
        out baseptr: BufferAddress, out win: Win
    ) Window, large(4.0), waits(Group);
    3.0 MPI_Win_allocate_shared(
        in size: Aint, in disp_unit: Displacement, in info: Info, in comm: Comm,
        out baseptr: BufferAddress, out win: Win
    ) Window, large(4.0), waits(Group);
    3.0 MPI_Win_shared_query(
        in win: Win, in rank: Rank, out size: Aint, out disp_unit: Displacement,
        out baseptr: BufferAddress
    ) Window, large(4.0);
    3.0 MPI_Win_create_dynamic(in info: Info, in comm: Comm, out win: Win) Window, waits(Group);
    3.0 MPI_Win_attach(in win: Win, inout base: Choice, in size: Aint) Window;
    3.0 MPI_Win_detach(in win: Win, in base: Choice) Window;
    2.0 MPI_Win_free(inout win: Win) Window, waits(Group);
    2.0 MPI_Win_get_group(in win: Win, out group: Group) Window;
    3.0 MPI_Win_set_info(in win: Win, in info: Info) Window, waits(Group);
    3.0 MPI_Win_get_info(in win: Win, out info_used: Info) Window;

    // Communication
    2.0 MPI_Put(
        in origin_addr: Choice, in origin_count: Count, in origin_datatype: Datatype,
        in target_rank: Rank, in target_disp: Aint, in target_count: Count,
        in target_datatype: Datatype, in win: Win
    ) Rma(Put), large(4.0)
        + Nonblocking 3.0 MPI_Rput
    {
        sends origin_addr(origin_count * origin_datatype) to(target_rank);
    }
    2.0 MPI_Get(
        out origin_addr: Choice, in origin_count: Count, in origin_datatype: Datatype,
        in target_rank: Rank, in target_disp: Aint, in target_count: Count,
        in target_datatype: Datatype, in win: Win
    ) Rma(Get), large(4.0)
        + Nonblocking 3.0 MPI_Rget
    {
        receives origin_addr(origin_count * origin_datatype) from(target_rank);
    }
    2.0 MPI_Accumulate(
        in origin_addr: Choice, in origin_count: Count, in origin_datatype: Datatype,
        in target_rank: Rank, in target_disp: Aint, in target_count: Count,
        in target_datatype: Datatype, in op: Op, in win: Win
    ) Rma(Accumulate), large(4.0)
        + Nonblocking 3.0 MPI_Raccumulate
    {
        sends origin_addr(origin_count * origin_datatype) to(target_rank);
    }
    3.0 MPI_Get_accumulate(
        in origin_addr: Choice, in origin_count: Count, in origin_datatype: Datatype,
        out result_addr: Choice, in result_count: Count, in result_datatype: Datatype,
        in target_rank: Rank, in target_disp: Aint, in target_count: Count,
        in target_datatype: Datatype, in op: Op, in win: Win
    ) Rma(Fetch), large(4.0)
        + Nonblocking 3.0 MPI_Rget_accumulate
    {
        sends origin_addr(origin_count * origin_datatype) to(target_rank) unless(no_op);
        receives result_addr(result_count * result_datatype) from(target_rank);
    }
    3.0 MPI_Fetch_and_op(
        in origin_addr: Choice, out result_addr: Choice, in datatype: Datatype,
        in target_rank: Rank, in target_disp: Aint, in op: Op, in win: Win
    ) Rma(Fetch)
    {
        sends origin_addr(1 * datatype) to(target_rank) unless(no_op);
        receives result_addr(1 * datatype) from(target_rank);
    }
    3.0 MPI_Compare_and_swap(
        in origin_addr: Choice, in compare_addr: Choice, out result_addr: Choice,
        in datatype: Datatype, in target_rank: Rank, in target_disp: Aint, in win: Win
    ) Rma(Fetch)
    {
        sends origin_addr(1 * datatype) to(target_rank);
        sends compare_addr(1 * datatype) to(target_rank);
        receives result_addr(1 * datatype) from(target_rank);
    }

    // Active target
    2.0 MPI_Win_fence(in assert: Int, in win: Win) RmaSynchronization(Fence);
    2.0 MPI_Win_start(in group: Group, in assert: Int, in win: Win) RmaSynchronization(General);
    2.0 MPI_Win_complete(in win: Win) RmaSynchronization(General);
    2.0 MPI_Win_post(
        in group: Group, in assert: Int, in win: Win
    ) RmaSynchronization(General), waits(Nothing);
    2.0 MPI_Win_wait(in win: Win) RmaSynchronization(General);
    2.0 MPI_Win_test(in win: Win, out flag: Logical) RmaSynchronization(General), waits(Nothing);

    // Passive target
    2.0 MPI_Win_lock(
        in lock_type: Int, in rank: Rank, in assert: Int, in win: Win
    ) RmaSynchronization(Passive);
    3.0 MPI_Win_lock_all(in assert: Int, in win: Win) RmaSynchronization(Passive);
    2.0 MPI_Win_unlock(in rank: Rank, in win: Win) RmaSynchronization(Passive);
    3.0 MPI_Win_unlock_all(in win: Win) RmaSynchronization(Passive);
    3.0 MPI_Win_flush(in rank: Rank, in win: Win) RmaSynchronization(Passive);
    3.0 MPI_Win_flush_all(in win: Win) RmaSynchronization(Passive);
    3.0 MPI_Win_flush_local(in rank: Rank, in win: Win) RmaSynchronization(Passive);
    3.0 MPI_Win_flush_local_all(in win: Win) RmaSynchronization(Passive);
    3.0 MPI_Win_sync(in win: Win) RmaSynchronization(Passive), waits(Nothing);
}
