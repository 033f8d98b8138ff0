//! Environmental management, error handling, and the info object.

use crate::row::mpi;

mpi! {
    // Versions, names, memory
    1.2 MPI_Get_version(out version: Int, out subversion: Int) Environment;
    3.0 MPI_Get_library_version(
        out version: String[const MPI_MAX_LIBRARY_VERSION_STRING], out resultlen: Length
    ) Environment;
    1.0 MPI_Get_processor_name(
        out name: String[const MPI_MAX_PROCESSOR_NAME], out resultlen: Length
    ) Environment;
    4.1 MPI_Get_hw_resource_info(out hw_info: Info) Environment;
    2.0 MPI_Alloc_mem(in size: Aint, in info: Info, out baseptr: BufferAddress) Environment;
    2.0 MPI_Free_mem(inout base: Choice) Environment;

    // Error handlers
    2.0 MPI_Comm_create_errhandler(
        in comm_errhandler_fn: CommErrhandlerFunction, out errhandler: Errhandler
    ) Error;
    2.0 MPI_Comm_set_errhandler(in comm: Comm, in errhandler: Errhandler) Error;
    2.0 MPI_Comm_get_errhandler(in comm: Comm, out errhandler: Errhandler) Error;
    2.0 MPI_Win_create_errhandler(
        in win_errhandler_fn: WinErrhandlerFunction, out errhandler: Errhandler
    ) Error;
    2.0 MPI_Win_set_errhandler(in win: Win, in errhandler: Errhandler) Error;
    2.0 MPI_Win_get_errhandler(in win: Win, out errhandler: Errhandler) Error;
    2.0 MPI_File_create_errhandler(
        in file_errhandler_fn: FileErrhandlerFunction, out errhandler: Errhandler
    ) Error;
    2.0 MPI_File_set_errhandler(in file: File, in errhandler: Errhandler) Error;
    2.0 MPI_File_get_errhandler(in file: File, out errhandler: Errhandler) Error;
    4.0 MPI_Session_create_errhandler(
        in session_errhandler_fn: SessionErrhandlerFunction, out errhandler: Errhandler
    ) Error;
    4.0 MPI_Session_set_errhandler(in session: Session, in errhandler: Errhandler) Error;
    4.0 MPI_Session_get_errhandler(in session: Session, out errhandler: Errhandler) Error;
    1.0 MPI_Errhandler_free(inout errhandler: Errhandler) Error;
    2.0 MPI_Comm_call_errhandler(in comm: Comm, in errorcode: Error) Error;
    2.0 MPI_Win_call_errhandler(in win: Win, in errorcode: Error) Error;
    2.0 MPI_File_call_errhandler(in fh: File, in errorcode: Error) Error;
    4.0 MPI_Session_call_errhandler(in session: Session, in errorcode: Error) Error;

    // Error codes
    1.0 MPI_Error_string(
        in errorcode: Error, out string: String[const MPI_MAX_ERROR_STRING], out resultlen: Length
    ) Error;
    1.0 MPI_Error_class(in errorcode: Error, out errorclass: Error) Error;
    2.0 MPI_Add_error_class(out errorclass: Error) Error;
    4.1 MPI_Remove_error_class(in errorclass: Error) Error;
    2.0 MPI_Add_error_code(in errorclass: Error, out errorcode: Error) Error;
    4.1 MPI_Remove_error_code(in errorcode: Error) Error;
    2.0 MPI_Add_error_string(in errorcode: Error, in string: String) Error;
    4.1 MPI_Remove_error_string(in errorcode: Error) Error;

    // Clocks
    1.0 MPI_Wtime() -> Double Timer, macros(allowed);
    1.0 MPI_Wtick() -> Double Timer, macros(allowed);

    // Info
    2.0 MPI_Info_create(out info: Info) Info;
    4.0 MPI_Info_create_env(in argc: ArgCount, in argv: ArgVector, out info: Info) Info;
    2.0 MPI_Info_dup(in info: Info, out newinfo: Info) Info;
    2.0 MPI_Info_free(inout info: Info) Info;
    2.0 MPI_Info_set(in info: Info, in key: String, in value: String) Info;
    2.0 MPI_Info_delete(in info: Info, in key: String) Info;
    2.0 MPI_Info_get(
        in info: Info, in key: String, in valuelen: Length, out value: String[valuelen],
        out flag: Logical
    ) Info, deprecated(4.0);
    2.0 MPI_Info_get_valuelen(
        in info: Info, in key: String, out valuelen: Length, out flag: Logical
    ) Info, deprecated(4.0);
    4.0 MPI_Info_get_string(
        in info: Info, in key: String, inout buflen: Length, out value: String, out flag: Logical
    ) Info;
    2.0 MPI_Info_get_nkeys(in info: Info, out nkeys: Int) Info;
    2.0 MPI_Info_get_nthkey(in info: Info, in n: Int, out key: String) Info;
}
