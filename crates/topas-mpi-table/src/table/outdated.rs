//! What was deprecated with a successor of another name, and what was removed. Programs
//! and libraries still have them.

use crate::row::mpi;

mpi! {
    // Deprecated, in the standard still
    1.0 MPI_Keyval_create(
        in copy_fn: CopyFunction, in delete_fn: DeleteFunction, out keyval: Keyval,
        in extra_state: IntegerExtraState
    ) Attribute, deprecated(2.0), languages(NoF08);
    1.0 MPI_Keyval_free(inout keyval: Keyval) Attribute, deprecated(2.0), languages(NoF08);
    1.0 MPI_Attr_put(
        in comm: Comm, in keyval: Keyval, in attribute_val: IntegerAttribute
    ) Attribute, deprecated(2.0), languages(NoF08);
    1.0 MPI_Attr_get(
        in comm: Comm, in keyval: Keyval, out attribute_val: IntegerAttribute, out flag: Logical
    ) Attribute, deprecated(2.0), languages(NoF08);
    1.0 MPI_Attr_delete(
        in comm: Comm, in keyval: Keyval
    ) Attribute, deprecated(2.0), languages(NoF08);

    // Removed
    1.0 MPI_Address(inout location: Choice, out address: Aint)
        Datatype, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Errhandler_create(in function: CommErrhandlerFunction, out errhandler: Errhandler)
        Error, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Errhandler_get(in comm: Comm, out errhandler: Errhandler)
        Error, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Errhandler_set(in comm: Comm, in errhandler: Errhandler)
        Error, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Type_count(in datatype: Datatype, out count: Int)
        Datatype, languages(NoF08), removed(1.1);
    1.0 MPI_Type_extent(in datatype: Datatype, out extent: Aint)
        Datatype, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Type_hindexed(
        in count: Length, inout array_of_blocklengths: Int[count],
        inout array_of_displacements: Aint[count], in oldtype: Datatype, out newtype: Datatype
    ) Datatype, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Type_hvector(
        in count: Int, in blocklength: Int, in stride: Aint, in oldtype: Datatype,
        out newtype: Datatype
    ) Datatype, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Type_lb(in datatype: Datatype, out displacement: Aint)
        Datatype, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Type_struct(
        in count: Length, inout array_of_blocklengths: Int[count],
        inout array_of_displacements: Aint[count], inout array_of_types: Datatype[count],
        out newtype: Datatype
    ) Datatype, languages(NoF08), deprecated(2.0), removed(3.0);
    1.0 MPI_Type_ub(in datatype: Datatype, out displacement: Aint)
        Datatype, languages(NoF08), deprecated(2.0), removed(3.0);
}
