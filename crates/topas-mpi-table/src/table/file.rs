//! Files: all but their data.

use crate::row::mpi;

mpi! {
    // Open, close
    2.0 MPI_File_open(
        in comm: Comm, in filename: String, in amode: Int, in info: Info, out fh: File
    ) File, waits(Group);
    2.0 MPI_File_close(inout fh: File) File, waits(Group);
    2.0 MPI_File_delete(in filename: String, in info: Info) File, waits(Storage);

    // Size, group, hints
    2.0 MPI_File_set_size(in fh: File, in size: Offset) File, waits(Group);
    2.0 MPI_File_preallocate(in fh: File, in size: Offset) File, waits(Group);
    2.0 MPI_File_get_size(in fh: File, out size: Offset) File, waits(Storage);
    2.0 MPI_File_get_group(in fh: File, out group: Group) File;
    2.0 MPI_File_get_amode(in fh: File, out amode: Int) File;
    2.0 MPI_File_set_info(in fh: File, in info: Info) File, waits(Group);
    2.0 MPI_File_get_info(in fh: File, out info_used: Info) File;

    // Views
    2.0 MPI_File_set_view(
        in fh: File, in disp: Offset, in etype: Datatype, in filetype: Datatype, in datarep: String,
        in info: Info
    ) File, waits(Group);
    2.0 MPI_File_get_view(
        in fh: File, out disp: Offset, out etype: Datatype, out filetype: Datatype,
        out datarep: String
    ) File;

    // Pointers
    2.0 MPI_File_seek(in fh: File, in offset: Offset, in whence: Int) File;
    2.0 MPI_File_get_position(in fh: File, out offset: Offset) File;
    2.0 MPI_File_get_byte_offset(in fh: File, in offset: Offset, out disp: Offset) File;
    2.0 MPI_File_seek_shared(in fh: File, in offset: Offset, in whence: Int) File, waits(Group);
    2.0 MPI_File_get_position_shared(in fh: File, out offset: Offset) File, waits(Storage);

    // Representation, consistency
    2.0 MPI_File_get_type_extent(
        in fh: File, in datatype: Datatype, out extent: Extent
    ) File, large(4.0);
    2.0 MPI_Register_datarep(
        in datarep: String, in read_conversion_fn: DatarepConversionFunction,
        in write_conversion_fn: DatarepConversionFunction,
        in dtype_file_extent_fn: DatarepExtentFunction, in extra_state: ExtraState
    ) File, large(4.0);
    2.0 MPI_File_set_atomicity(in fh: File, in flag: Logical) File, waits(Group);
    2.0 MPI_File_get_atomicity(in fh: File, out flag: Logical) File;
    2.0 MPI_File_sync(in fh: File) File, waits(Group);
}
