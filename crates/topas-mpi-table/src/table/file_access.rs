//! Data of files: 30 ways to read and write.
//!
//! The count of the arguments is what was asked for. What came of it, less at the end of a
//! file, is in the status.

use crate::row::mpi;

mpi! {
    // At offsets
    2.0 MPI_File_read_at(
        in fh: File, in offset: Offset, out buf: Choice, in count: Count, in datatype: Datatype,
        out status: Status
    ) Io(Read, Explicit, Alone, Blocking), large(4.0)
    {
        reads buf(count * datatype) told_by(status);
    }
    2.0 MPI_File_iread_at(
        in fh: File, in offset: Offset, out buf: Choice, in count: Count, in datatype: Datatype,
        out request: Request
    ) Io(Read, Explicit, Alone, Nonblocking), large(4.0)
    {
        reads buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_read_at_all(
        in fh: File, in offset: Offset, out buf: Choice, in count: Count, in datatype: Datatype,
        out status: Status
    ) Io(Read, Explicit, Together, Blocking), large(4.0)
    {
        reads buf(count * datatype) told_by(status);
    }
    3.1 MPI_File_iread_at_all(
        in fh: File, in offset: Offset, out buf: Choice, in count: Count, in datatype: Datatype,
        out request: Request
    ) Io(Read, Explicit, Together, Nonblocking), large(4.0)
    {
        reads buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_read_at_all_begin(
        in fh: File, in offset: Offset, out buf: Choice, in count: Count, in datatype: Datatype
    ) Io(Read, Explicit, Together, Begin), large(4.0)
    {
        reads buf(count * datatype) told_by(end);
    }
    2.0 MPI_File_read_at_all_end(
        in fh: File, out buf: Choice, out status: Status
    ) Io(Read, Explicit, Together, End);
    2.0 MPI_File_write_at(
        in fh: File, in offset: Offset, in buf: Choice, in count: Count, in datatype: Datatype,
        out status: Status
    ) Io(Write, Explicit, Alone, Blocking), large(4.0)
    {
        writes buf(count * datatype) told_by(status);
    }
    2.0 MPI_File_iwrite_at(
        in fh: File, in offset: Offset, in buf: Choice, in count: Count, in datatype: Datatype,
        out request: Request
    ) Io(Write, Explicit, Alone, Nonblocking), large(4.0)
    {
        writes buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_write_at_all(
        in fh: File, in offset: Offset, in buf: Choice, in count: Count, in datatype: Datatype,
        out status: Status
    ) Io(Write, Explicit, Together, Blocking), large(4.0)
    {
        writes buf(count * datatype) told_by(status);
    }
    3.1 MPI_File_iwrite_at_all(
        in fh: File, in offset: Offset, in buf: Choice, in count: Count, in datatype: Datatype,
        out request: Request
    ) Io(Write, Explicit, Together, Nonblocking), large(4.0)
    {
        writes buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_write_at_all_begin(
        in fh: File, in offset: Offset, in buf: Choice, in count: Count, in datatype: Datatype
    ) Io(Write, Explicit, Together, Begin), large(4.0)
    {
        writes buf(count * datatype) told_by(end);
    }
    2.0 MPI_File_write_at_all_end(
        in fh: File, in buf: Choice, out status: Status
    ) Io(Write, Explicit, Together, End);

    // At the pointer of the process
    2.0 MPI_File_read(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype, out status: Status
    ) Io(Read, Individual, Alone, Blocking), large(4.0)
    {
        reads buf(count * datatype) told_by(status);
    }
    2.0 MPI_File_iread(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype, out request: Request
    ) Io(Read, Individual, Alone, Nonblocking), large(4.0)
    {
        reads buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_read_all(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype, out status: Status
    ) Io(Read, Individual, Together, Blocking), large(4.0)
    {
        reads buf(count * datatype) told_by(status);
    }
    3.1 MPI_File_iread_all(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype, out request: Request
    ) Io(Read, Individual, Together, Nonblocking), large(4.0)
    {
        reads buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_read_all_begin(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype
    ) Io(Read, Individual, Together, Begin), large(4.0)
    {
        reads buf(count * datatype) told_by(end);
    }
    2.0 MPI_File_read_all_end(
        in fh: File, out buf: Choice, out status: Status
    ) Io(Read, Individual, Together, End);
    2.0 MPI_File_write(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype, out status: Status
    ) Io(Write, Individual, Alone, Blocking), large(4.0)
    {
        writes buf(count * datatype) told_by(status);
    }
    2.0 MPI_File_iwrite(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype, out request: Request
    ) Io(Write, Individual, Alone, Nonblocking), large(4.0)
    {
        writes buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_write_all(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype, out status: Status
    ) Io(Write, Individual, Together, Blocking), large(4.0)
    {
        writes buf(count * datatype) told_by(status);
    }
    3.1 MPI_File_iwrite_all(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype, out request: Request
    ) Io(Write, Individual, Together, Nonblocking), large(4.0)
    {
        writes buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_write_all_begin(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype
    ) Io(Write, Individual, Together, Begin), large(4.0)
    {
        writes buf(count * datatype) told_by(end);
    }
    2.0 MPI_File_write_all_end(
        in fh: File, in buf: Choice, out status: Status
    ) Io(Write, Individual, Together, End);

    // At the shared pointer
    2.0 MPI_File_read_shared(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype, out status: Status
    ) Io(Read, Shared, Alone, Blocking), large(4.0)
    {
        reads buf(count * datatype) told_by(status);
    }
    2.0 MPI_File_iread_shared(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype, out request: Request
    ) Io(Read, Shared, Alone, Nonblocking), large(4.0)
    {
        reads buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_read_ordered(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype, out status: Status
    ) Io(Read, Shared, Together, Blocking), large(4.0)
    {
        reads buf(count * datatype) told_by(status);
    }
    2.0 MPI_File_read_ordered_begin(
        in fh: File, out buf: Choice, in count: Count, in datatype: Datatype
    ) Io(Read, Shared, Together, Begin), large(4.0)
    {
        reads buf(count * datatype) told_by(end);
    }
    2.0 MPI_File_read_ordered_end(
        in fh: File, out buf: Choice, out status: Status
    ) Io(Read, Shared, Together, End);
    2.0 MPI_File_write_shared(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype, out status: Status
    ) Io(Write, Shared, Alone, Blocking), large(4.0)
    {
        writes buf(count * datatype) told_by(status);
    }
    2.0 MPI_File_iwrite_shared(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype, out request: Request
    ) Io(Write, Shared, Alone, Nonblocking), large(4.0)
    {
        writes buf(count * datatype) told_by(completion);
    }
    2.0 MPI_File_write_ordered(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype, out status: Status
    ) Io(Write, Shared, Together, Blocking), large(4.0)
    {
        writes buf(count * datatype) told_by(status);
    }
    2.0 MPI_File_write_ordered_begin(
        in fh: File, in buf: Choice, in count: Count, in datatype: Datatype
    ) Io(Write, Shared, Together, Begin), large(4.0)
    {
        writes buf(count * datatype) told_by(end);
    }
    2.0 MPI_File_write_ordered_end(
        in fh: File, in buf: Choice, out status: Status
    ) Io(Write, Shared, Together, End);
}
