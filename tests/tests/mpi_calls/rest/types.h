/* Datatypes, packing, operators, what was removed. */

static void keep(MPI_Datatype *type) {
    MPI_Type_commit(type);
    MPI_Type_free(type);
}

static void datatypes(void) {
    int ones[] = {1, 1}, places[] = {0, 2}, sizes[] = {4}, subsizes[] = {2}, starts[] = {1};
    int distribs[] = {MPI_DISTRIBUTE_BLOCK}, dargs[] = {MPI_DISTRIBUTE_DFLT_DARG}, psizes[] = {2};
    MPI_Aint offsets[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_FLOAT}, type, struct_type;
    MPI_Type_contiguous(2, MPI_INT, &type), keep(&type);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type), keep(&type);
    MPI_Type_create_hvector(2, 1, 8, MPI_INT, &type), keep(&type);
    MPI_Type_indexed(2, ones, places, MPI_INT, &type), keep(&type);
    MPI_Type_create_hindexed(2, ones, offsets, MPI_INT, &type), keep(&type);
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &type), keep(&type);
    MPI_Type_create_hindexed_block(2, 1, offsets, MPI_INT, &type), keep(&type);
    MPI_Type_create_subarray(1, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type), keep(&type);
    MPI_Type_create_darray(
        2, rank, 1, sizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &type);
    keep(&type);
    MPI_Type_create_resized(MPI_INT, 0, 16, &type), keep(&type);
    MPI_Type_dup(MPI_INT, &type), keep(&type);
    MPI_Type_create_struct(2, ones, offsets, types, &struct_type);
    MPI_Type_commit(&struct_type);

    MPI_Aint lower;
    MPI_Count large_lower, large_extent;
    MPI_Get_address(&lower, &address);
    extent = MPI_Aint_add(address, 8);
    extent = MPI_Aint_diff(extent, address);
    MPI_Type_size(struct_type, &number);
    MPI_Type_size_x(struct_type, &large_count);
    MPI_Type_get_extent(struct_type, &lower, &extent);
    MPI_Type_get_extent_x(struct_type, &large_lower, &large_extent);
    MPI_Type_get_true_extent(struct_type, &lower, &extent);
    MPI_Type_get_true_extent_x(struct_type, &large_lower, &large_extent);
    int integers[8], n_integers, n_addresses, n_types, combiner;
    MPI_Aint addresses[8];
    MPI_Type_get_envelope(struct_type, &n_integers, &n_addresses, &n_types, &combiner);
    MPI_Type_get_contents(
        struct_type, n_integers, n_addresses, n_types, integers, addresses, types);

    MPI_Type_create_f90_integer(5, &type);
    MPI_Type_create_f90_real(6, 30, &type);
    MPI_Type_create_f90_complex(6, 30, &type);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, &type);
    MPI_Type_free(&struct_type);

#if MPI_VERSION >= 4
    MPI_Count long_ones[] = {1, 1}, long_places[] = {0, 8}, long_sizes[] = {4};
    MPI_Count long_subsizes[] = {2}, long_starts[] = {1};
    MPI_Type_contiguous_c(2, MPI_INT, &type), keep(&type);
    MPI_Type_vector_c(2, 1, 2, MPI_INT, &type), keep(&type);
    MPI_Type_create_hvector_c(2, 1, 8, MPI_INT, &type), keep(&type);
    MPI_Type_indexed_c(2, long_ones, long_places, MPI_INT, &type), keep(&type);
    MPI_Type_create_hindexed_c(2, long_ones, long_places, MPI_INT, &type), keep(&type);
    MPI_Type_create_indexed_block_c(2, 1, long_places, MPI_INT, &type), keep(&type);
    MPI_Type_create_hindexed_block_c(2, 1, long_places, MPI_INT, &type), keep(&type);
    MPI_Type_create_subarray_c(
        1, long_sizes, long_subsizes, long_starts, MPI_ORDER_C, MPI_INT, &type);
    keep(&type);
    MPI_Type_create_darray_c(
        2, rank, 1, long_sizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &type);
    keep(&type);
    MPI_Type_create_resized_c(MPI_INT, 0, 16, &type), keep(&type);
    types[0] = MPI_INT, types[1] = MPI_FLOAT;
    MPI_Type_create_struct_c(2, long_ones, long_places, types, &struct_type);
    MPI_Type_commit(&struct_type);
    MPI_Type_size_c(struct_type, &large_count);
    MPI_Type_get_extent_c(struct_type, &large_lower, &large_extent);
    MPI_Type_get_true_extent_c(struct_type, &large_lower, &large_extent);
    MPI_Count long_integers, long_addresses, counts, long_types, long_counts[8];
    MPI_Type_get_envelope_c(
        struct_type, &long_integers, &long_addresses, &counts, &long_types, &combiner);
    MPI_Type_get_contents_c(struct_type, long_integers, long_addresses, counts, long_types,
                            integers, addresses, long_counts, types);
    MPI_Type_free(&struct_type);
#endif
}

static void packing(void) {
    int in[] = {1, 2}, out[2], position = 0;
    MPI_Aint place = 0, room;
    MPI_Pack(in, 2, MPI_INT, text, sizeof text, &position, MPI_COMM_WORLD);
    position = 0;
    MPI_Unpack(text, sizeof text, &position, out, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Pack_size(2, MPI_INT, MPI_COMM_WORLD, &number);
    MPI_Pack_external("external32", in, 2, MPI_INT, text, sizeof text, &place);
    place = 0;
    MPI_Unpack_external("external32", text, sizeof text, &place, out, 2, MPI_INT);
    MPI_Pack_external_size("external32", 2, MPI_INT, &room);
#if MPI_VERSION >= 4
    MPI_Count where = 0;
    MPI_Pack_c(in, 2, MPI_INT, text, sizeof text, &where, MPI_COMM_WORLD);
    where = 0;
    MPI_Unpack_c(text, sizeof text, &where, out, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Pack_size_c(2, MPI_INT, MPI_COMM_WORLD, &large_count);
    where = 0;
    MPI_Pack_external_c("external32", in, 2, MPI_INT, text, sizeof text, &where);
    where = 0;
    MPI_Unpack_external_c("external32", text, sizeof text, &where, out, 2, MPI_INT);
    MPI_Pack_external_size_c("external32", 2, MPI_INT, &large_count);
#endif
}

#if MPI_VERSION >= 4
static void add_large(void *in, void *inout, MPI_Count *n, MPI_Datatype *type) {}
#endif

static void operators(void) {
    int in = 1, inout = 2;
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    MPI_Op_commutative(op, &flag);
    MPI_Reduce_local(&in, &inout, 1, MPI_INT, op);
    MPI_Op_free(&op);
#if MPI_VERSION >= 4
    MPI_Op_create_c(add_large, 1, &op);
    MPI_Reduce_local_c(&in, &inout, 1, MPI_INT, op);
    MPI_Op_free(&op);
#endif
}

static void removed(void) {
    int ones[] = {1, 1};
    MPI_Aint offsets[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_FLOAT}, type;
    MPI_Errhandler handler;
    MPI_Address(ones, &address);
    MPI_Errhandler_create(on_comm, &handler);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_get(MPI_COMM_SELF, &handler);
    MPI_Errhandler_set(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Type_extent(MPI_INT, &extent);
    MPI_Type_lb(MPI_INT, &extent);
    MPI_Type_ub(MPI_INT, &extent);
    MPI_Type_hindexed(2, ones, offsets, MPI_INT, &type), keep(&type);
    MPI_Type_hvector(2, 1, 8, MPI_INT, &type), keep(&type);
    MPI_Type_struct(2, ones, offsets, types, &type), keep(&type);
}
