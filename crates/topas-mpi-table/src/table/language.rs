//! Language bindings and the binary interface.

use crate::row::mpi;

mpi! {
    // Handles between C and Fortran
    2.0 MPI_Comm_f2c(in comm: Fint) -> Handle(Comm) Conversion, languages(C), macros(allowed);
    2.0 MPI_Comm_c2f(in comm: Comm) -> Fint Conversion, languages(C), macros(allowed);
    2.0 MPI_Errhandler_f2c(
        in errhandler: Fint
    ) -> Handle(Errhandler) Conversion, languages(C), macros(allowed);
    2.0 MPI_Errhandler_c2f(
        in errhandler: Errhandler
    ) -> Fint Conversion, languages(C), macros(allowed);
    2.0 MPI_File_f2c(in file: Fint) -> Handle(File) Conversion, languages(C), macros(allowed);
    2.0 MPI_File_c2f(in file: File) -> Fint Conversion, languages(C), macros(allowed);
    2.0 MPI_Group_f2c(in group: Fint) -> Handle(Group) Conversion, languages(C), macros(allowed);
    2.0 MPI_Group_c2f(in group: Group) -> Fint Conversion, languages(C), macros(allowed);
    2.0 MPI_Info_f2c(in info: Fint) -> Handle(Info) Conversion, languages(C), macros(allowed);
    2.0 MPI_Info_c2f(in info: Info) -> Fint Conversion, languages(C), macros(allowed);
    3.0 MPI_Message_f2c(
        in message: Fint
    ) -> Handle(Message) Conversion, languages(C), macros(allowed);
    3.0 MPI_Message_c2f(in message: Message) -> Fint Conversion, languages(C), macros(allowed);
    2.0 MPI_Op_f2c(in op: Fint) -> Handle(Op) Conversion, languages(C), macros(allowed);
    2.0 MPI_Op_c2f(in op: Op) -> Fint Conversion, languages(C), macros(allowed);
    2.0 MPI_Request_f2c(
        in request: Fint
    ) -> Handle(Request) Conversion, languages(C), macros(allowed);
    2.0 MPI_Request_c2f(in request: Request) -> Fint Conversion, languages(C), macros(allowed);
    4.0 MPI_Session_f2c(
        in session: Fint
    ) -> Handle(Session) Conversion, languages(C), macros(allowed);
    4.0 MPI_Session_c2f(in session: Session) -> Fint Conversion, languages(C), macros(allowed);
    2.0 MPI_Type_f2c(
        in datatype: Fint
    ) -> Handle(Datatype) Conversion, languages(C), macros(allowed);
    2.0 MPI_Type_c2f(in datatype: Datatype) -> Fint Conversion, languages(C), macros(allowed);
    2.0 MPI_Win_f2c(in win: Fint) -> Handle(Win) Conversion, languages(C), macros(allowed);
    2.0 MPI_Win_c2f(in win: Win) -> Fint Conversion, languages(C), macros(allowed);

    // Statuses
    2.0 MPI_Status_f2c(
        in f_status: FStatus, out c_status: Status
    ) Conversion, languages(C), macros(allowed);
    2.0 MPI_Status_c2f(
        in c_status: Status, out f_status: FStatus
    ) Conversion, languages(C), macros(allowed);
    3.0 MPI_Status_f082c(in f08_status: F08Status, out c_status: Status) Conversion, languages(C);
    3.0 MPI_Status_c2f08(in c_status: Status, out f08_status: F08Status) Conversion, languages(C);
    3.0 MPI_Status_f2f08(
        in f_status: FStatus, out f08_status: F08Status
    ) Conversion, languages(NoMpif);
    3.0 MPI_Status_f082f(
        in f08_status: F08Status, out f_status: FStatus
    ) Conversion, languages(NoMpif);

    // Fortran's optimizer
    3.0 MPI_F_sync_reg(inout buf: Choice) -> Nothing Conversion, languages(Fortran);

    // Handles as integers
    5.0 MPI_Comm_toint(in comm: Comm) -> Int Conversion, languages(C);
    5.0 MPI_Comm_fromint(in comm: Int) -> Handle(Comm) Conversion, languages(C);
    5.0 MPI_Errhandler_toint(in errhandler: Errhandler) -> Int Conversion, languages(C);
    5.0 MPI_Errhandler_fromint(in errhandler: Int) -> Handle(Errhandler) Conversion, languages(C);
    5.0 MPI_File_toint(in file: File) -> Int Conversion, languages(C);
    5.0 MPI_File_fromint(in file: Int) -> Handle(File) Conversion, languages(C);
    5.0 MPI_Group_toint(in group: Group) -> Int Conversion, languages(C);
    5.0 MPI_Group_fromint(in group: Int) -> Handle(Group) Conversion, languages(C);
    5.0 MPI_Info_toint(in info: Info) -> Int Conversion, languages(C);
    5.0 MPI_Info_fromint(in info: Int) -> Handle(Info) Conversion, languages(C);
    5.0 MPI_Message_toint(in message: Message) -> Int Conversion, languages(C);
    5.0 MPI_Message_fromint(in message: Int) -> Handle(Message) Conversion, languages(C);
    5.0 MPI_Op_toint(in op: Op) -> Int Conversion, languages(C);
    5.0 MPI_Op_fromint(in op: Int) -> Handle(Op) Conversion, languages(C);
    5.0 MPI_Request_toint(in request: Request) -> Int Conversion, languages(C);
    5.0 MPI_Request_fromint(in request: Int) -> Handle(Request) Conversion, languages(C);
    5.0 MPI_Session_toint(in session: Session) -> Int Conversion, languages(C);
    5.0 MPI_Session_fromint(in session: Int) -> Handle(Session) Conversion, languages(C);
    5.0 MPI_Type_toint(in datatype: Datatype) -> Int Conversion, languages(C);
    5.0 MPI_Type_fromint(in datatype: Int) -> Handle(Datatype) Conversion, languages(C);
    5.0 MPI_Win_toint(in win: Win) -> Int Conversion, languages(C);
    5.0 MPI_Win_fromint(in win: Int) -> Handle(Win) Conversion, languages(C);

    // Application binary interface
    5.0 MPI_Abi_get_version(out abi_major: Int, out abi_minor: Int) Environment;
    5.0 MPI_Abi_get_info(out info: Info) Environment;
    5.0 MPI_Abi_get_fortran_info(out info: Info) Environment;
    5.0 MPI_Abi_set_fortran_info(in info: Info) Environment;
    5.0 MPI_Abi_get_fortran_booleans(
        in logical_size: Int, out logical_true: LogicalValue, out logical_false: LogicalValue,
        out is_set: Logical
    ) Environment;
    5.0 MPI_Abi_set_fortran_booleans(
        in logical_size: Int, in logical_true: LogicalValue, in logical_false: LogicalValue
    ) Environment;
}
