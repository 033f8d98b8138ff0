//! Datatypes, and packing; with those that match types of Fortran.

use crate::row::mpi;

mpi! {
    // Constructors
    1.0 MPI_Type_contiguous(
        in count: Count, in oldtype: Datatype, out newtype: Datatype
    ) Datatype, large(4.0);
    1.0 MPI_Type_vector(
        in count: Count, in blocklength: Count, in stride: Count, in oldtype: Datatype,
        out newtype: Datatype
    ) Datatype, large(4.0);
    2.0 MPI_Type_create_hvector(
        in count: Count, in blocklength: Count, in stride: Extent, in oldtype: Datatype,
        out newtype: Datatype
    ) Datatype, large(4.0);
    1.0 MPI_Type_indexed(
        in count: Count, in array_of_blocklengths: Count[count],
        in array_of_displacements: Position[count], in oldtype: Datatype, out newtype: Datatype
    ) Datatype, large(4.0);
    2.0 MPI_Type_create_hindexed(
        in count: Count, in array_of_blocklengths: Count[count],
        in array_of_displacements: Extent[count], in oldtype: Datatype, out newtype: Datatype
    ) Datatype, large(4.0);
    2.0 MPI_Type_create_indexed_block(
        in count: Count, in blocklength: Count, in array_of_displacements: Position[count],
        in oldtype: Datatype, out newtype: Datatype
    ) Datatype, large(4.0);
    3.0 MPI_Type_create_hindexed_block(
        in count: Count, in blocklength: Count, in array_of_displacements: Extent[count],
        in oldtype: Datatype, out newtype: Datatype
    ) Datatype, large(4.0);
    2.0 MPI_Type_create_struct(
        in count: Count, in array_of_blocklengths: Count[count],
        in array_of_displacements: Extent[count], in array_of_types: Datatype[count],
        out newtype: Datatype
    ) Datatype, large(4.0);
    2.0 MPI_Type_create_subarray(
        in ndims: Length, in array_of_sizes: Count[ndims], in array_of_subsizes: Count[ndims],
        in array_of_starts: Count[ndims], in order: Int, in oldtype: Datatype, out newtype: Datatype
    ) Datatype, large(4.0);
    2.0 MPI_Type_create_darray(
        in size: Int, in rank: Rank, in ndims: Length, in array_of_gsizes: Count[ndims],
        in array_of_distribs: Int[ndims], in array_of_dargs: Int[ndims],
        in array_of_psizes: Int[ndims], in order: Int, in oldtype: Datatype, out newtype: Datatype
    ) Datatype, large(4.0);
    2.0 MPI_Type_create_resized(
        in oldtype: Datatype, in lb: Extent, in extent: Extent, out newtype: Datatype
    ) Datatype, large(4.0);
    2.0 MPI_Type_dup(in oldtype: Datatype, out newtype: Datatype) Datatype;

    // Commit, free
    1.0 MPI_Type_commit(inout datatype: Datatype) Datatype;
    1.0 MPI_Type_free(inout datatype: Datatype) Datatype;

    // Addresses and sizes
    2.0 MPI_Get_address(in location: Choice, out address: Aint) Datatype;
    3.1 MPI_Aint_add(in base: Aint, in disp: Aint) -> Aint Datatype, macros(allowed);
    3.1 MPI_Aint_diff(in addr1: Aint, in addr2: Aint) -> Aint Datatype, macros(allowed);
    1.0 MPI_Type_size(in datatype: Datatype, out size: Count) Datatype, large(4.0);
    3.0 MPI_Type_size_x(in datatype: Datatype, out size: LargeCount) Datatype, deprecated(4.1);
    2.0 MPI_Type_get_extent(
        in datatype: Datatype, out lb: Extent, out extent: Extent
    ) Datatype, large(4.0);
    3.0 MPI_Type_get_extent_x(
        in datatype: Datatype, out lb: LargeCount, out extent: LargeCount
    ) Datatype, deprecated(4.1);
    2.0 MPI_Type_get_true_extent(
        in datatype: Datatype, out true_lb: Extent, out true_extent: Extent
    ) Datatype, large(4.0);
    3.0 MPI_Type_get_true_extent_x(
        in datatype: Datatype, out true_lb: LargeCount, out true_extent: LargeCount
    ) Datatype, deprecated(4.1);

    // What a type was made of
    2.0 MPI_Type_get_envelope(
        in datatype: Datatype, out num_integers: Count, out num_addresses: Count,
        out@large num_large_counts: Count, out num_datatypes: Count, out combiner: Int
    ) Datatype, large(4.0);
    2.0 MPI_Type_get_contents(
        in datatype: Datatype, in max_integers: Count, in max_addresses: Count,
        in@large max_large_counts: Count, in max_datatypes: Count,
        out array_of_integers: Int[max_integers], out array_of_addresses: Aint[max_addresses],
        out@large array_of_large_counts: LargeCount[max_large_counts],
        out array_of_datatypes: Datatype[max_datatypes]
    ) Datatype, large(4.0);
    4.1 MPI_Type_get_value_index(
        in value_type: Datatype, in index_type: Datatype, out pair_type: Datatype
    ) Datatype;

    // Pack
    1.0 MPI_Pack(
        in inbuf: Choice, in incount: Count, in datatype: Datatype, out outbuf: Choice,
        in outsize: Bytes, inout position: Position, in comm: Comm
    ) Pack, large(4.0);
    1.0 MPI_Unpack(
        in inbuf: Choice, in insize: Bytes, inout position: Position, out outbuf: Choice,
        in outcount: Count, in datatype: Datatype, in comm: Comm
    ) Pack, large(4.0);
    1.0 MPI_Pack_size(
        in incount: Count, in datatype: Datatype, in comm: Comm, out size: Bytes
    ) Pack, large(4.0);
    2.0 MPI_Pack_external(
        in datarep: String, in inbuf: Choice, in incount: Count, in datatype: Datatype,
        out outbuf: Choice, in outsize: Extent, inout position: Extent
    ) Pack, large(4.0);
    2.0 MPI_Unpack_external(
        in datarep: String, in inbuf: Choice, in insize: Extent, inout position: Extent,
        out outbuf: Choice, in outcount: Count, in datatype: Datatype
    ) Pack, large(4.0);
    2.0 MPI_Pack_external_size(
        in datarep: String, in incount: Count, in datatype: Datatype, out size: Extent
    ) Pack, large(4.0);

    // Types of Fortran
    2.0 MPI_Type_create_f90_integer(in r: Int, out newtype: Datatype) Datatype;
    2.0 MPI_Type_create_f90_real(in p: Int, in r: Int, out newtype: Datatype) Datatype;
    2.0 MPI_Type_create_f90_complex(in p: Int, in r: Int, out newtype: Datatype) Datatype;
    2.0 MPI_Type_match_size(in typeclass: Int, in size: Int, out datatype: Datatype) Datatype;
    2.0 MPI_Sizeof(in x: Choice, out size: Int) Datatype, deprecated(4.0), languages(Fortran);
}
