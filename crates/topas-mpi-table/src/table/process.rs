//! Process initialization, creation and management.

use crate::row::mpi;

mpi! {
    // The world model
    1.0 MPI_Init(inout argc: ArgCount, inout argv: ArgVector) World, waits(Runtime);
    2.0 MPI_Init_thread(
        inout argc: ArgCount, inout argv: ArgVector, in required: Int, out provided: Int
    ) World, waits(Runtime);
    1.0 MPI_Initialized(out flag: Logical) World;
    1.0 MPI_Finalize() World, waits(Group);
    2.0 MPI_Finalized(out flag: Logical) World;
    1.0 MPI_Abort(in comm: Comm, in errorcode: Error) World, waits(Runtime);
    2.0 MPI_Query_thread(out provided: Int) Environment;
    2.0 MPI_Is_thread_main(out flag: Logical) Environment;

    // Sessions
    4.0 MPI_Session_init(
        in info: Info, in errhandler: Errhandler, out session: Session
    ) Session, waits(Runtime);
    4.0 MPI_Session_finalize(inout session: Session) Session, waits(Group);
    4.0 MPI_Session_get_info(in session: Session, out info_used: Info) Session;
    4.0 MPI_Session_get_num_psets(
        in session: Session, in info: Info, out npset_names: Length
    ) Session;
    4.0 MPI_Session_get_nth_pset(
        in session: Session, in info: Info, in n: Int, inout pset_len: Length, out pset_name: String
    ) Session;
    4.0 MPI_Session_get_pset_info(
        in session: Session, in pset_name: String, out info: Info
    ) Session;
    4.0 MPI_Group_from_session_pset(
        in session: Session, in pset_name: String, out newgroup: Group
    ) Session;

    // Spawning
    2.0 MPI_Comm_spawn(
        in@root command: String, in@root argv: Strings, in@root maxprocs: Int, in@root info: Info,
        in root: Root, in comm: Comm, out intercomm: Comm, out array_of_errcodes: Error[maxprocs]
    ) Spawn, waits(Runtime);
    2.0 MPI_Comm_spawn_multiple(
        in@root count: Length, in@root array_of_commands: Strings,
        in@root array_of_argv: StringLists[count], in@root array_of_maxprocs: Int[count],
        in@root array_of_info: Info[count], in root: Root, in comm: Comm, out intercomm: Comm,
        out array_of_errcodes: Error[sum array_of_maxprocs]
    ) Spawn, waits(Runtime);
    2.0 MPI_Comm_get_parent(out parent: Comm) Spawn;

    // Connecting
    2.0 MPI_Open_port(
        in info: Info, out port_name: String[const MPI_MAX_PORT_NAME]
    ) Connect, waits(Runtime);
    2.0 MPI_Close_port(in port_name: String) Connect, waits(Runtime);
    2.0 MPI_Comm_accept(
        in@root port_name: String, in@root info: Info, in root: Root, in comm: Comm,
        out newcomm: Comm
    ) Connect, waits(Partner);
    2.0 MPI_Comm_connect(
        in@root port_name: String, in@root info: Info, in root: Root, in comm: Comm,
        out newcomm: Comm
    ) Connect, waits(Partner);
    2.0 MPI_Publish_name(
        in service_name: String, in info: Info, in port_name: String
    ) Connect, waits(Runtime);
    2.0 MPI_Unpublish_name(
        in service_name: String, in info: Info, in port_name: String
    ) Connect, waits(Runtime);
    2.0 MPI_Lookup_name(
        in service_name: String, in info: Info, out port_name: String[const MPI_MAX_PORT_NAME]
    ) Connect, waits(Runtime);
    2.0 MPI_Comm_disconnect(inout comm: Comm) Connect, waits(Group);
    2.0 MPI_Comm_join(in fd: Int, out intercomm: Comm) Connect, waits(Partner);
}
