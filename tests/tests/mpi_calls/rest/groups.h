/* Groups, communicators, what is attached to objects, topologies. */

static void groups(void) {
    int first[] = {0}, all[] = {0, 1}, ranks[2], range[1][3] = {{0, 1, 1}}, one[1][3] = {{1, 1, 1}};
    MPI_Group world, zero, a, b;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &number);
    MPI_Group_rank(world, &number);
    MPI_Group_incl(world, 1, first, &zero);
    MPI_Group_excl(world, 1, first, &a);
    MPI_Group_translate_ranks(world, 2, all, a, ranks);
    MPI_Group_compare(world, a, &result);
    MPI_Group_union(zero, a, &b);
    MPI_Group_free(&b);
    MPI_Group_intersection(world, a, &b);
    MPI_Group_free(&b);
    MPI_Group_difference(world, a, &b);
    MPI_Group_free(&b);
    MPI_Group_range_incl(world, 1, range, &b);
    MPI_Group_free(&b);
    MPI_Group_range_excl(world, 1, one, &b);
    MPI_Group_free(&b);
    MPI_Group_free(&a);
    MPI_Group_free(&zero);
    MPI_Group_free(&world);
}

static void communicators(void) {
    MPI_Comm comm, inter, merged, alone;
    MPI_Group group;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_compare(MPI_COMM_WORLD, comm, &result);
    MPI_Comm_set_name(comm, "ours");
    MPI_Comm_get_name(comm, text, &length);
    MPI_Comm_set_info(comm, info);
    MPI_Info hints;
    MPI_Comm_get_info(comm, &hints);
    MPI_Info_free(&hints);
    MPI_Comm_free(&comm);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_free(&comm);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, &status);
    MPI_Comm_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    MPI_Comm_free(&comm);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, other, 8, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &number);
    MPI_Group remote;
    MPI_Comm_remote_group(inter, &remote);
    MPI_Group_free(&remote);
    MPI_Intercomm_merge(inter, rank, &merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
#if MPI_VERSION >= 4
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request);
    MPI_Wait(&request, &status);
    MPI_Comm_free(&comm);
    MPI_Comm_create_from_group(group, "tag", info, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_free(&comm);
    MPI_Group own, theirs;
    MPI_Comm_group(alone, &own);
    MPI_Group_difference(group, own, &theirs);
    MPI_Intercomm_create_from_groups(own, 0, theirs, 0, "two", info, MPI_ERRORS_RETURN, &inter);
    MPI_Comm_free(&inter);
    MPI_Group_free(&theirs);
    MPI_Group_free(&own);
#endif
    MPI_Comm_free(&alone);
    MPI_Group_free(&group);
}

static void attributes(void) {
    int key, value = 1;
    void *got;
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &got, &flag);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);

    MPI_Datatype type;
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_set_name(type, "one");
    MPI_Type_get_name(type, text, &length);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_set_attr(type, key, &value);
    MPI_Type_get_attr(type, key, &got, &flag);
    MPI_Type_delete_attr(type, key);
    MPI_Type_free_keyval(&key);
    MPI_Type_free(&type);

    MPI_Win win;
    MPI_Win_create(&value, sizeof value, 1, info, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "hole");
    MPI_Win_get_name(win, text, &length);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Win_set_attr(win, key, &value);
    MPI_Win_get_attr(win, key, &got, &flag);
    MPI_Win_delete_attr(win, key);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&win);

    /* Of MPI 1 */
    MPI_Keyval_create(copy_comm, delete_comm, &key, NULL);
    MPI_Attr_put(MPI_COMM_SELF, key, &value);
    MPI_Attr_get(MPI_COMM_SELF, key, &got, &flag);
    MPI_Attr_delete(MPI_COMM_SELF, key);
    MPI_Keyval_free(&key);
}

static void topologies(void) {
    int dims[] = {0}, periods[] = {1}, coords[] = {0}, remain[] = {1}, from, to;
    MPI_Comm comm, sub;
    MPI_Dims_create(size, 1, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    MPI_Topo_test(comm, &result);
    MPI_Cartdim_get(comm, &number);
    MPI_Cart_get(comm, 1, dims, periods, coords);
    MPI_Cart_rank(comm, coords, &number);
    MPI_Cart_coords(comm, rank, 1, coords);
    MPI_Cart_shift(comm, 0, 1, &from, &to);
    MPI_Cart_sub(comm, remain, &sub);
    MPI_Cart_map(comm, 1, dims, periods, &number);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&comm);

    int index[] = {1, 2}, edges[] = {1, 0}, nodes, last;
    MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &comm);
    MPI_Graphdims_get(comm, &nodes, &last);
    MPI_Graph_get(comm, 2, 2, index, edges);
    MPI_Graph_neighbors_count(comm, rank, &number);
    MPI_Graph_neighbors(comm, rank, 1, &to);
    MPI_Graph_map(comm, 2, index, edges, &number);
    MPI_Comm_free(&comm);

    int weights[] = {1}, weighted, in[1], out[1], source[1] = {rank}, degree[1] = {1};
    int peer[1] = {other};
    MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, 1, peer, weights, 1, peer, weights, info, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
    MPI_Dist_graph_neighbors(comm, 1, in, weights, 1, out, weights);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, source, degree, peer, weights, info, 0, &comm);
    MPI_Comm_free(&comm);
}
