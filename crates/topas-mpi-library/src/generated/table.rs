//! Descriptors and names of all functions, by number.

use crate::descriptor::Descriptor;

/// By number.
pub static DESCRIPTORS: [Descriptor; 1024] = Descriptor::table(&[
    Descriptor::new(6, 7, 2), // MPI_Send
    Descriptor::new(7, 8, 2), // MPI_Isend
    Descriptor::new(7, 8, 2), // MPI_Send_init
    Descriptor::new(6, 7, 2), // MPI_Bsend
    Descriptor::new(7, 8, 2), // MPI_Ibsend
    Descriptor::new(7, 8, 2), // MPI_Bsend_init
    Descriptor::new(6, 7, 2), // MPI_Ssend
    Descriptor::new(7, 8, 2), // MPI_Issend
    Descriptor::new(7, 8, 2), // MPI_Ssend_init
    Descriptor::new(6, 7, 2), // MPI_Rsend
    Descriptor::new(7, 8, 2), // MPI_Irsend
    Descriptor::new(7, 8, 2), // MPI_Rsend_init
    Descriptor::new(7, 8, 2), // MPI_Recv
    Descriptor::new(7, 8, 2), // MPI_Irecv
    Descriptor::new(7, 8, 2), // MPI_Recv_init
    Descriptor::new(12, 13, 2), // MPI_Sendrecv
    Descriptor::new(9, 10, 2), // MPI_Sendrecv_replace
    Descriptor::new(12, 13, 2), // MPI_Isendrecv
    Descriptor::new(9, 10, 2), // MPI_Isendrecv_replace
    Descriptor::new(4, 5, 0), // MPI_Probe
    Descriptor::new(5, 6, 0), // MPI_Iprobe
    Descriptor::new(5, 6, 0), // MPI_Mprobe
    Descriptor::new(6, 7, 0), // MPI_Improbe
    Descriptor::new(5, 6, 2), // MPI_Mrecv
    Descriptor::new(5, 6, 2), // MPI_Imrecv
    Descriptor::new(2, 3, 0), // MPI_Buffer_attach
    Descriptor::new(2, 3, 0), // MPI_Buffer_detach
    Descriptor::new(0, 1, 0), // MPI_Buffer_flush
    Descriptor::new(1, 2, 0), // MPI_Buffer_iflush
    Descriptor::new(3, 4, 0), // MPI_Comm_attach_buffer
    Descriptor::new(3, 4, 0), // MPI_Comm_detach_buffer
    Descriptor::new(1, 2, 0), // MPI_Comm_flush_buffer
    Descriptor::new(2, 3, 0), // MPI_Comm_iflush_buffer
    Descriptor::new(3, 4, 0), // MPI_Session_attach_buffer
    Descriptor::new(3, 4, 0), // MPI_Session_detach_buffer
    Descriptor::new(1, 2, 0), // MPI_Session_flush_buffer
    Descriptor::new(2, 3, 0), // MPI_Session_iflush_buffer
    Descriptor::new(2, 3, 4), // MPI_Wait
    Descriptor::new(4, 5, 4), // MPI_Waitany
    Descriptor::new(3, 4, 4), // MPI_Waitall
    Descriptor::new(5, 6, 4), // MPI_Waitsome
    Descriptor::new(3, 4, 4), // MPI_Test
    Descriptor::new(5, 6, 4), // MPI_Testany
    Descriptor::new(4, 5, 4), // MPI_Testall
    Descriptor::new(5, 6, 4), // MPI_Testsome
    Descriptor::new(1, 2, 4), // MPI_Start
    Descriptor::new(2, 3, 4), // MPI_Startall
    Descriptor::new(3, 4, 4), // MPI_Request_get_status
    Descriptor::new(5, 6, 4), // MPI_Request_get_status_any
    Descriptor::new(4, 5, 4), // MPI_Request_get_status_all
    Descriptor::new(5, 6, 4), // MPI_Request_get_status_some
    Descriptor::new(1, 2, 4), // MPI_Request_free
    Descriptor::new(1, 2, 4), // MPI_Cancel
    Descriptor::new(2, 3, 0), // MPI_Test_cancelled
    Descriptor::new(3, 4, 0), // MPI_Get_count
    Descriptor::new(3, 4, 0), // MPI_Get_elements
    Descriptor::new(3, 4, 0), // MPI_Get_elements_x
    Descriptor::new(2, 3, 0), // MPI_Status_get_source
    Descriptor::new(2, 3, 0), // MPI_Status_get_tag
    Descriptor::new(2, 3, 0), // MPI_Status_get_error
    Descriptor::new(2, 3, 0), // MPI_Status_set_source
    Descriptor::new(2, 3, 0), // MPI_Status_set_tag
    Descriptor::new(2, 3, 0), // MPI_Status_set_error
    Descriptor::new(5, 6, 0), // MPI_Grequest_start
    Descriptor::new(1, 2, 0), // MPI_Grequest_complete
    Descriptor::new(3, 4, 0), // MPI_Status_set_elements
    Descriptor::new(3, 4, 0), // MPI_Status_set_elements_x
    Descriptor::new(2, 3, 0), // MPI_Status_set_cancelled
    Descriptor::new(9, 10, 2), // MPI_Psend_init
    Descriptor::new(9, 10, 2), // MPI_Precv_init
    Descriptor::new(2, 3, 0), // MPI_Pready
    Descriptor::new(3, 4, 0), // MPI_Pready_range
    Descriptor::new(3, 4, 0), // MPI_Pready_list
    Descriptor::new(3, 4, 0), // MPI_Parrived
    Descriptor::new(3, 4, 0), // MPI_Type_contiguous
    Descriptor::new(5, 6, 0), // MPI_Type_vector
    Descriptor::new(5, 6, 0), // MPI_Type_create_hvector
    Descriptor::new(5, 6, 0), // MPI_Type_indexed
    Descriptor::new(5, 6, 0), // MPI_Type_create_hindexed
    Descriptor::new(5, 6, 0), // MPI_Type_create_indexed_block
    Descriptor::new(5, 6, 0), // MPI_Type_create_hindexed_block
    Descriptor::new(5, 6, 0), // MPI_Type_create_struct
    Descriptor::new(7, 8, 0), // MPI_Type_create_subarray
    Descriptor::new(10, 11, 0), // MPI_Type_create_darray
    Descriptor::new(4, 5, 0), // MPI_Type_create_resized
    Descriptor::new(2, 3, 0), // MPI_Type_dup
    Descriptor::new(1, 2, 0), // MPI_Type_commit
    Descriptor::new(1, 2, 0), // MPI_Type_free
    Descriptor::new(2, 3, 0), // MPI_Get_address
    Descriptor::new(2, 3, 0), // MPI_Aint_add
    Descriptor::new(2, 3, 0), // MPI_Aint_diff
    Descriptor::new(2, 3, 0), // MPI_Type_size
    Descriptor::new(2, 3, 0), // MPI_Type_size_x
    Descriptor::new(3, 4, 0), // MPI_Type_get_extent
    Descriptor::new(3, 4, 0), // MPI_Type_get_extent_x
    Descriptor::new(3, 4, 0), // MPI_Type_get_true_extent
    Descriptor::new(3, 4, 0), // MPI_Type_get_true_extent_x
    Descriptor::new(6, 7, 0), // MPI_Type_get_envelope
    Descriptor::new(9, 10, 0), // MPI_Type_get_contents
    Descriptor::new(3, 4, 0), // MPI_Type_get_value_index
    Descriptor::new(7, 8, 0), // MPI_Pack
    Descriptor::new(7, 8, 0), // MPI_Unpack
    Descriptor::new(4, 5, 0), // MPI_Pack_size
    Descriptor::new(7, 9, 0), // MPI_Pack_external
    Descriptor::new(7, 9, 0), // MPI_Unpack_external
    Descriptor::new(4, 6, 0), // MPI_Pack_external_size
    Descriptor::new(2, 3, 0), // MPI_Type_create_f90_integer
    Descriptor::new(3, 4, 0), // MPI_Type_create_f90_real
    Descriptor::new(3, 4, 0), // MPI_Type_create_f90_complex
    Descriptor::new(3, 4, 0), // MPI_Type_match_size
    Descriptor::new(2, 3, 0), // MPI_Sizeof
    Descriptor::new(1, 2, 0), // MPI_Barrier
    Descriptor::new(2, 3, 0), // MPI_Ibarrier
    Descriptor::new(3, 4, 0), // MPI_Barrier_init
    Descriptor::new(5, 6, 2), // MPI_Bcast
    Descriptor::new(6, 7, 2), // MPI_Ibcast
    Descriptor::new(7, 8, 2), // MPI_Bcast_init
    Descriptor::new(8, 9, 2), // MPI_Gather
    Descriptor::new(9, 10, 2), // MPI_Igather
    Descriptor::new(10, 11, 2), // MPI_Gather_init
    Descriptor::new(9, 10, 2), // MPI_Gatherv
    Descriptor::new(10, 11, 2), // MPI_Igatherv
    Descriptor::new(11, 12, 2), // MPI_Gatherv_init
    Descriptor::new(8, 9, 2), // MPI_Scatter
    Descriptor::new(9, 10, 2), // MPI_Iscatter
    Descriptor::new(10, 11, 2), // MPI_Scatter_init
    Descriptor::new(9, 10, 2), // MPI_Scatterv
    Descriptor::new(10, 11, 2), // MPI_Iscatterv
    Descriptor::new(11, 12, 2), // MPI_Scatterv_init
    Descriptor::new(7, 8, 2), // MPI_Allgather
    Descriptor::new(8, 9, 2), // MPI_Iallgather
    Descriptor::new(9, 10, 2), // MPI_Allgather_init
    Descriptor::new(8, 9, 2), // MPI_Allgatherv
    Descriptor::new(9, 10, 2), // MPI_Iallgatherv
    Descriptor::new(10, 11, 2), // MPI_Allgatherv_init
    Descriptor::new(7, 8, 2), // MPI_Alltoall
    Descriptor::new(8, 9, 2), // MPI_Ialltoall
    Descriptor::new(9, 10, 2), // MPI_Alltoall_init
    Descriptor::new(9, 10, 2), // MPI_Alltoallv
    Descriptor::new(10, 11, 2), // MPI_Ialltoallv
    Descriptor::new(11, 12, 2), // MPI_Alltoallv_init
    Descriptor::new(9, 10, 2), // MPI_Alltoallw
    Descriptor::new(10, 11, 2), // MPI_Ialltoallw
    Descriptor::new(11, 12, 2), // MPI_Alltoallw_init
    Descriptor::new(7, 8, 2), // MPI_Reduce
    Descriptor::new(8, 9, 2), // MPI_Ireduce
    Descriptor::new(9, 10, 2), // MPI_Reduce_init
    Descriptor::new(6, 7, 2), // MPI_Allreduce
    Descriptor::new(7, 8, 2), // MPI_Iallreduce
    Descriptor::new(8, 9, 2), // MPI_Allreduce_init
    Descriptor::new(6, 7, 2), // MPI_Reduce_scatter_block
    Descriptor::new(7, 8, 2), // MPI_Ireduce_scatter_block
    Descriptor::new(8, 9, 2), // MPI_Reduce_scatter_block_init
    Descriptor::new(6, 7, 2), // MPI_Reduce_scatter
    Descriptor::new(7, 8, 2), // MPI_Ireduce_scatter
    Descriptor::new(8, 9, 2), // MPI_Reduce_scatter_init
    Descriptor::new(6, 7, 2), // MPI_Scan
    Descriptor::new(7, 8, 2), // MPI_Iscan
    Descriptor::new(8, 9, 2), // MPI_Scan_init
    Descriptor::new(6, 7, 2), // MPI_Exscan
    Descriptor::new(7, 8, 2), // MPI_Iexscan
    Descriptor::new(8, 9, 2), // MPI_Exscan_init
    Descriptor::new(3, 4, 0), // MPI_Op_create
    Descriptor::new(1, 2, 0), // MPI_Op_free
    Descriptor::new(2, 3, 0), // MPI_Op_commutative
    Descriptor::new(5, 6, 0), // MPI_Reduce_local
    Descriptor::new(2, 3, 0), // MPI_Group_size
    Descriptor::new(2, 3, 0), // MPI_Group_rank
    Descriptor::new(5, 6, 0), // MPI_Group_translate_ranks
    Descriptor::new(3, 4, 0), // MPI_Group_compare
    Descriptor::new(2, 3, 0), // MPI_Comm_group
    Descriptor::new(3, 4, 0), // MPI_Group_union
    Descriptor::new(3, 4, 0), // MPI_Group_intersection
    Descriptor::new(3, 4, 0), // MPI_Group_difference
    Descriptor::new(4, 5, 0), // MPI_Group_incl
    Descriptor::new(4, 5, 0), // MPI_Group_excl
    Descriptor::new(4, 5, 0), // MPI_Group_range_incl
    Descriptor::new(4, 5, 0), // MPI_Group_range_excl
    Descriptor::new(1, 2, 0), // MPI_Group_free
    Descriptor::new(2, 3, 0), // MPI_Comm_size
    Descriptor::new(2, 3, 0), // MPI_Comm_rank
    Descriptor::new(3, 4, 0), // MPI_Comm_compare
    Descriptor::new(2, 3, 0), // MPI_Comm_dup
    Descriptor::new(3, 4, 0), // MPI_Comm_dup_with_info
    Descriptor::new(3, 4, 0), // MPI_Comm_idup
    Descriptor::new(4, 5, 0), // MPI_Comm_idup_with_info
    Descriptor::new(3, 4, 0), // MPI_Comm_create
    Descriptor::new(4, 5, 0), // MPI_Comm_create_group
    Descriptor::new(4, 5, 0), // MPI_Comm_split
    Descriptor::new(5, 6, 0), // MPI_Comm_split_type
    Descriptor::new(5, 7, 0), // MPI_Comm_create_from_group
    Descriptor::new(1, 2, 0), // MPI_Comm_free
    Descriptor::new(2, 3, 0), // MPI_Comm_set_info
    Descriptor::new(2, 3, 0), // MPI_Comm_get_info
    Descriptor::new(2, 3, 0), // MPI_Comm_test_inter
    Descriptor::new(2, 3, 0), // MPI_Comm_remote_size
    Descriptor::new(2, 3, 0), // MPI_Comm_remote_group
    Descriptor::new(6, 7, 0), // MPI_Intercomm_create
    Descriptor::new(8, 10, 0), // MPI_Intercomm_create_from_groups
    Descriptor::new(3, 4, 0), // MPI_Intercomm_merge
    Descriptor::new(2, 4, 0), // MPI_Comm_set_name
    Descriptor::new(3, 5, 0), // MPI_Comm_get_name
    Descriptor::new(2, 4, 0), // MPI_Type_set_name
    Descriptor::new(3, 5, 0), // MPI_Type_get_name
    Descriptor::new(2, 4, 0), // MPI_Win_set_name
    Descriptor::new(3, 5, 0), // MPI_Win_get_name
    Descriptor::new(4, 5, 0), // MPI_Comm_create_keyval
    Descriptor::new(1, 2, 0), // MPI_Comm_free_keyval
    Descriptor::new(3, 4, 0), // MPI_Comm_set_attr
    Descriptor::new(4, 5, 0), // MPI_Comm_get_attr
    Descriptor::new(2, 3, 0), // MPI_Comm_delete_attr
    Descriptor::new(4, 5, 0), // MPI_Type_create_keyval
    Descriptor::new(1, 2, 0), // MPI_Type_free_keyval
    Descriptor::new(3, 4, 0), // MPI_Type_set_attr
    Descriptor::new(4, 5, 0), // MPI_Type_get_attr
    Descriptor::new(2, 3, 0), // MPI_Type_delete_attr
    Descriptor::new(4, 5, 0), // MPI_Win_create_keyval
    Descriptor::new(1, 2, 0), // MPI_Win_free_keyval
    Descriptor::new(3, 4, 0), // MPI_Win_set_attr
    Descriptor::new(4, 5, 0), // MPI_Win_get_attr
    Descriptor::new(2, 3, 0), // MPI_Win_delete_attr
    Descriptor::new(6, 7, 0), // MPI_Cart_create
    Descriptor::new(3, 4, 0), // MPI_Dims_create
    Descriptor::new(2, 3, 0), // MPI_Cartdim_get
    Descriptor::new(5, 6, 0), // MPI_Cart_get
    Descriptor::new(3, 4, 0), // MPI_Cart_rank
    Descriptor::new(4, 5, 0), // MPI_Cart_coords
    Descriptor::new(5, 6, 0), // MPI_Cart_shift
    Descriptor::new(3, 4, 0), // MPI_Cart_sub
    Descriptor::new(5, 6, 0), // MPI_Cart_map
    Descriptor::new(6, 7, 0), // MPI_Graph_create
    Descriptor::new(3, 4, 0), // MPI_Graphdims_get
    Descriptor::new(5, 6, 0), // MPI_Graph_get
    Descriptor::new(3, 4, 0), // MPI_Graph_neighbors_count
    Descriptor::new(4, 5, 0), // MPI_Graph_neighbors
    Descriptor::new(5, 6, 0), // MPI_Graph_map
    Descriptor::new(10, 11, 0), // MPI_Dist_graph_create_adjacent
    Descriptor::new(9, 10, 0), // MPI_Dist_graph_create
    Descriptor::new(4, 5, 0), // MPI_Dist_graph_neighbors_count
    Descriptor::new(7, 8, 0), // MPI_Dist_graph_neighbors
    Descriptor::new(2, 3, 0), // MPI_Topo_test
    Descriptor::new(7, 8, 2), // MPI_Neighbor_allgather
    Descriptor::new(8, 9, 2), // MPI_Ineighbor_allgather
    Descriptor::new(9, 10, 2), // MPI_Neighbor_allgather_init
    Descriptor::new(8, 9, 2), // MPI_Neighbor_allgatherv
    Descriptor::new(9, 10, 2), // MPI_Ineighbor_allgatherv
    Descriptor::new(10, 11, 2), // MPI_Neighbor_allgatherv_init
    Descriptor::new(7, 8, 2), // MPI_Neighbor_alltoall
    Descriptor::new(8, 9, 2), // MPI_Ineighbor_alltoall
    Descriptor::new(9, 10, 2), // MPI_Neighbor_alltoall_init
    Descriptor::new(9, 10, 2), // MPI_Neighbor_alltoallv
    Descriptor::new(10, 11, 2), // MPI_Ineighbor_alltoallv
    Descriptor::new(11, 12, 2), // MPI_Neighbor_alltoallv_init
    Descriptor::new(9, 10, 2), // MPI_Neighbor_alltoallw
    Descriptor::new(10, 11, 2), // MPI_Ineighbor_alltoallw
    Descriptor::new(11, 12, 2), // MPI_Neighbor_alltoallw_init
    Descriptor::new(2, 3, 0), // MPI_Get_version
    Descriptor::new(2, 4, 0), // MPI_Get_library_version
    Descriptor::new(2, 4, 0), // MPI_Get_processor_name
    Descriptor::new(1, 2, 0), // MPI_Get_hw_resource_info
    Descriptor::new(3, 4, 0), // MPI_Alloc_mem
    Descriptor::new(1, 2, 0), // MPI_Free_mem
    Descriptor::new(2, 3, 0), // MPI_Comm_create_errhandler
    Descriptor::new(2, 3, 0), // MPI_Comm_set_errhandler
    Descriptor::new(2, 3, 0), // MPI_Comm_get_errhandler
    Descriptor::new(2, 3, 0), // MPI_Win_create_errhandler
    Descriptor::new(2, 3, 0), // MPI_Win_set_errhandler
    Descriptor::new(2, 3, 0), // MPI_Win_get_errhandler
    Descriptor::new(2, 3, 0), // MPI_File_create_errhandler
    Descriptor::new(2, 3, 0), // MPI_File_set_errhandler
    Descriptor::new(2, 3, 0), // MPI_File_get_errhandler
    Descriptor::new(2, 3, 0), // MPI_Session_create_errhandler
    Descriptor::new(2, 3, 0), // MPI_Session_set_errhandler
    Descriptor::new(2, 3, 0), // MPI_Session_get_errhandler
    Descriptor::new(1, 2, 0), // MPI_Errhandler_free
    Descriptor::new(2, 3, 0), // MPI_Comm_call_errhandler
    Descriptor::new(2, 3, 0), // MPI_Win_call_errhandler
    Descriptor::new(2, 3, 0), // MPI_File_call_errhandler
    Descriptor::new(2, 3, 0), // MPI_Session_call_errhandler
    Descriptor::new(3, 5, 0), // MPI_Error_string
    Descriptor::new(2, 3, 0), // MPI_Error_class
    Descriptor::new(1, 2, 0), // MPI_Add_error_class
    Descriptor::new(1, 2, 0), // MPI_Remove_error_class
    Descriptor::new(2, 3, 0), // MPI_Add_error_code
    Descriptor::new(1, 2, 0), // MPI_Remove_error_code
    Descriptor::new(2, 4, 0), // MPI_Add_error_string
    Descriptor::new(1, 2, 0), // MPI_Remove_error_string
    Descriptor::new(0, 1, 0), // MPI_Wtime
    Descriptor::new(0, 1, 0), // MPI_Wtick
    Descriptor::new(1, 2, 0), // MPI_Info_create
    Descriptor::new(3, 2, 0), // MPI_Info_create_env
    Descriptor::new(2, 3, 0), // MPI_Info_dup
    Descriptor::new(1, 2, 0), // MPI_Info_free
    Descriptor::new(3, 6, 0), // MPI_Info_set
    Descriptor::new(2, 4, 0), // MPI_Info_delete
    Descriptor::new(5, 8, 0), // MPI_Info_get
    Descriptor::new(4, 6, 0), // MPI_Info_get_valuelen
    Descriptor::new(5, 8, 0), // MPI_Info_get_string
    Descriptor::new(2, 3, 0), // MPI_Info_get_nkeys
    Descriptor::new(3, 5, 0), // MPI_Info_get_nthkey
    Descriptor::new(2, 1, 1), // MPI_Init
    Descriptor::new(4, 3, 1), // MPI_Init_thread
    Descriptor::new(1, 2, 0), // MPI_Initialized
    Descriptor::new(0, 1, 1), // MPI_Finalize
    Descriptor::new(1, 2, 0), // MPI_Finalized
    Descriptor::new(2, 3, 1), // MPI_Abort
    Descriptor::new(1, 2, 0), // MPI_Query_thread
    Descriptor::new(1, 2, 0), // MPI_Is_thread_main
    Descriptor::new(3, 4, 1), // MPI_Session_init
    Descriptor::new(1, 2, 1), // MPI_Session_finalize
    Descriptor::new(2, 3, 0), // MPI_Session_get_info
    Descriptor::new(3, 4, 0), // MPI_Session_get_num_psets
    Descriptor::new(5, 7, 0), // MPI_Session_get_nth_pset
    Descriptor::new(3, 5, 0), // MPI_Session_get_pset_info
    Descriptor::new(3, 5, 0), // MPI_Group_from_session_pset
    Descriptor::new(8, 11, 0), // MPI_Comm_spawn
    Descriptor::new(9, 12, 0), // MPI_Comm_spawn_multiple
    Descriptor::new(1, 2, 0), // MPI_Comm_get_parent
    Descriptor::new(2, 4, 0), // MPI_Open_port
    Descriptor::new(1, 3, 0), // MPI_Close_port
    Descriptor::new(5, 7, 0), // MPI_Comm_accept
    Descriptor::new(5, 7, 0), // MPI_Comm_connect
    Descriptor::new(3, 6, 0), // MPI_Publish_name
    Descriptor::new(3, 6, 0), // MPI_Unpublish_name
    Descriptor::new(3, 6, 0), // MPI_Lookup_name
    Descriptor::new(1, 2, 0), // MPI_Comm_disconnect
    Descriptor::new(2, 3, 0), // MPI_Comm_join
    Descriptor::new(6, 7, 0), // MPI_Win_create
    Descriptor::new(6, 7, 0), // MPI_Win_allocate
    Descriptor::new(6, 7, 0), // MPI_Win_allocate_shared
    Descriptor::new(5, 6, 0), // MPI_Win_shared_query
    Descriptor::new(3, 4, 0), // MPI_Win_create_dynamic
    Descriptor::new(3, 4, 0), // MPI_Win_attach
    Descriptor::new(2, 3, 0), // MPI_Win_detach
    Descriptor::new(1, 2, 0), // MPI_Win_free
    Descriptor::new(2, 3, 0), // MPI_Win_get_group
    Descriptor::new(2, 3, 0), // MPI_Win_set_info
    Descriptor::new(2, 3, 0), // MPI_Win_get_info
    Descriptor::new(8, 9, 2), // MPI_Put
    Descriptor::new(9, 10, 2), // MPI_Rput
    Descriptor::new(8, 9, 2), // MPI_Get
    Descriptor::new(9, 10, 2), // MPI_Rget
    Descriptor::new(9, 10, 2), // MPI_Accumulate
    Descriptor::new(10, 11, 2), // MPI_Raccumulate
    Descriptor::new(12, 13, 2), // MPI_Get_accumulate
    Descriptor::new(13, 14, 2), // MPI_Rget_accumulate
    Descriptor::new(7, 8, 2), // MPI_Fetch_and_op
    Descriptor::new(7, 8, 2), // MPI_Compare_and_swap
    Descriptor::new(2, 3, 0), // MPI_Win_fence
    Descriptor::new(3, 4, 0), // MPI_Win_start
    Descriptor::new(1, 2, 0), // MPI_Win_complete
    Descriptor::new(3, 4, 0), // MPI_Win_post
    Descriptor::new(1, 2, 0), // MPI_Win_wait
    Descriptor::new(2, 3, 0), // MPI_Win_test
    Descriptor::new(4, 5, 0), // MPI_Win_lock
    Descriptor::new(2, 3, 0), // MPI_Win_lock_all
    Descriptor::new(2, 3, 0), // MPI_Win_unlock
    Descriptor::new(1, 2, 0), // MPI_Win_unlock_all
    Descriptor::new(2, 3, 0), // MPI_Win_flush
    Descriptor::new(1, 2, 0), // MPI_Win_flush_all
    Descriptor::new(2, 3, 0), // MPI_Win_flush_local
    Descriptor::new(1, 2, 0), // MPI_Win_flush_local_all
    Descriptor::new(1, 2, 0), // MPI_Win_sync
    Descriptor::new(5, 7, 0), // MPI_File_open
    Descriptor::new(1, 2, 0), // MPI_File_close
    Descriptor::new(2, 4, 0), // MPI_File_delete
    Descriptor::new(2, 3, 0), // MPI_File_set_size
    Descriptor::new(2, 3, 0), // MPI_File_preallocate
    Descriptor::new(2, 3, 0), // MPI_File_get_size
    Descriptor::new(2, 3, 0), // MPI_File_get_group
    Descriptor::new(2, 3, 0), // MPI_File_get_amode
    Descriptor::new(2, 3, 0), // MPI_File_set_info
    Descriptor::new(2, 3, 0), // MPI_File_get_info
    Descriptor::new(6, 8, 0), // MPI_File_set_view
    Descriptor::new(5, 7, 0), // MPI_File_get_view
    Descriptor::new(3, 4, 0), // MPI_File_seek
    Descriptor::new(2, 3, 0), // MPI_File_get_position
    Descriptor::new(3, 4, 0), // MPI_File_get_byte_offset
    Descriptor::new(3, 4, 0), // MPI_File_seek_shared
    Descriptor::new(2, 3, 0), // MPI_File_get_position_shared
    Descriptor::new(3, 4, 0), // MPI_File_get_type_extent
    Descriptor::new(5, 7, 0), // MPI_Register_datarep
    Descriptor::new(2, 3, 0), // MPI_File_set_atomicity
    Descriptor::new(2, 3, 0), // MPI_File_get_atomicity
    Descriptor::new(1, 2, 0), // MPI_File_sync
    Descriptor::new(6, 7, 2), // MPI_File_read_at
    Descriptor::new(6, 7, 2), // MPI_File_iread_at
    Descriptor::new(6, 7, 2), // MPI_File_read_at_all
    Descriptor::new(6, 7, 2), // MPI_File_iread_at_all
    Descriptor::new(5, 6, 2), // MPI_File_read_at_all_begin
    Descriptor::new(3, 4, 0), // MPI_File_read_at_all_end
    Descriptor::new(6, 7, 2), // MPI_File_write_at
    Descriptor::new(6, 7, 2), // MPI_File_iwrite_at
    Descriptor::new(6, 7, 2), // MPI_File_write_at_all
    Descriptor::new(6, 7, 2), // MPI_File_iwrite_at_all
    Descriptor::new(5, 6, 2), // MPI_File_write_at_all_begin
    Descriptor::new(3, 4, 0), // MPI_File_write_at_all_end
    Descriptor::new(5, 6, 2), // MPI_File_read
    Descriptor::new(5, 6, 2), // MPI_File_iread
    Descriptor::new(5, 6, 2), // MPI_File_read_all
    Descriptor::new(5, 6, 2), // MPI_File_iread_all
    Descriptor::new(4, 5, 2), // MPI_File_read_all_begin
    Descriptor::new(3, 4, 0), // MPI_File_read_all_end
    Descriptor::new(5, 6, 2), // MPI_File_write
    Descriptor::new(5, 6, 2), // MPI_File_iwrite
    Descriptor::new(5, 6, 2), // MPI_File_write_all
    Descriptor::new(5, 6, 2), // MPI_File_iwrite_all
    Descriptor::new(4, 5, 2), // MPI_File_write_all_begin
    Descriptor::new(3, 4, 0), // MPI_File_write_all_end
    Descriptor::new(5, 6, 2), // MPI_File_read_shared
    Descriptor::new(5, 6, 2), // MPI_File_iread_shared
    Descriptor::new(5, 6, 2), // MPI_File_read_ordered
    Descriptor::new(4, 5, 2), // MPI_File_read_ordered_begin
    Descriptor::new(3, 4, 0), // MPI_File_read_ordered_end
    Descriptor::new(5, 6, 2), // MPI_File_write_shared
    Descriptor::new(5, 6, 2), // MPI_File_iwrite_shared
    Descriptor::new(5, 6, 2), // MPI_File_write_ordered
    Descriptor::new(4, 5, 2), // MPI_File_write_ordered_begin
    Descriptor::new(3, 4, 0), // MPI_File_write_ordered_end
    Descriptor::new(1, 2, 1), // MPI_Pcontrol
    Descriptor::new(2, 3, 0), // MPI_T_init_thread
    Descriptor::new(0, 1, 0), // MPI_T_finalize
    Descriptor::new(4, 6, 0), // MPI_T_enum_get_info
    Descriptor::new(5, 7, 0), // MPI_T_enum_get_item
    Descriptor::new(2, 4, 0), // MPI_T_cvar_get_index
    Descriptor::new(10, 13, 0), // MPI_T_cvar_get_info
    Descriptor::new(1, 2, 0), // MPI_T_cvar_get_num
    Descriptor::new(4, 5, 0), // MPI_T_cvar_handle_alloc
    Descriptor::new(1, 2, 0), // MPI_T_cvar_handle_free
    Descriptor::new(2, 3, 0), // MPI_T_cvar_read
    Descriptor::new(2, 3, 0), // MPI_T_cvar_write
    Descriptor::new(3, 5, 0), // MPI_T_pvar_get_index
    Descriptor::new(13, 16, 0), // MPI_T_pvar_get_info
    Descriptor::new(1, 2, 0), // MPI_T_pvar_get_num
    Descriptor::new(5, 6, 0), // MPI_T_pvar_handle_alloc
    Descriptor::new(2, 3, 0), // MPI_T_pvar_handle_free
    Descriptor::new(3, 4, 0), // MPI_T_pvar_read
    Descriptor::new(3, 4, 0), // MPI_T_pvar_readreset
    Descriptor::new(2, 3, 0), // MPI_T_pvar_reset
    Descriptor::new(1, 2, 0), // MPI_T_pvar_session_create
    Descriptor::new(1, 2, 0), // MPI_T_pvar_session_free
    Descriptor::new(2, 3, 0), // MPI_T_pvar_start
    Descriptor::new(2, 3, 0), // MPI_T_pvar_stop
    Descriptor::new(3, 4, 0), // MPI_T_pvar_write
    Descriptor::new(3, 4, 0), // MPI_T_event_callback_get_info
    Descriptor::new(3, 4, 0), // MPI_T_event_callback_set_info
    Descriptor::new(2, 3, 0), // MPI_T_event_copy
    Descriptor::new(2, 4, 0), // MPI_T_event_get_index
    Descriptor::new(12, 15, 0), // MPI_T_event_get_info
    Descriptor::new(1, 2, 0), // MPI_T_event_get_num
    Descriptor::new(2, 3, 0), // MPI_T_event_get_source
    Descriptor::new(2, 3, 0), // MPI_T_event_get_timestamp
    Descriptor::new(4, 5, 0), // MPI_T_event_handle_alloc
    Descriptor::new(3, 4, 0), // MPI_T_event_handle_free
    Descriptor::new(2, 3, 0), // MPI_T_event_handle_get_info
    Descriptor::new(2, 3, 0), // MPI_T_event_handle_set_info
    Descriptor::new(3, 4, 0), // MPI_T_event_read
    Descriptor::new(5, 6, 0), // MPI_T_event_register_callback
    Descriptor::new(2, 3, 0), // MPI_T_event_set_dropped_handler
    Descriptor::new(9, 12, 0), // MPI_T_source_get_info
    Descriptor::new(1, 2, 0), // MPI_T_source_get_num
    Descriptor::new(2, 3, 0), // MPI_T_source_get_timestamp
    Descriptor::new(1, 2, 0), // MPI_T_category_changed
    Descriptor::new(3, 4, 0), // MPI_T_category_get_categories
    Descriptor::new(3, 4, 0), // MPI_T_category_get_cvars
    Descriptor::new(3, 4, 0), // MPI_T_category_get_events
    Descriptor::new(2, 4, 0), // MPI_T_category_get_index
    Descriptor::new(8, 11, 0), // MPI_T_category_get_info
    Descriptor::new(1, 2, 0), // MPI_T_category_get_num
    Descriptor::new(2, 3, 0), // MPI_T_category_get_num_events
    Descriptor::new(3, 4, 0), // MPI_T_category_get_pvars
    Descriptor::new(1, 2, 0), // MPI_Comm_f2c
    Descriptor::new(1, 2, 0), // MPI_Comm_c2f
    Descriptor::new(1, 2, 0), // MPI_Errhandler_f2c
    Descriptor::new(1, 2, 0), // MPI_Errhandler_c2f
    Descriptor::new(1, 2, 0), // MPI_File_f2c
    Descriptor::new(1, 2, 0), // MPI_File_c2f
    Descriptor::new(1, 2, 0), // MPI_Group_f2c
    Descriptor::new(1, 2, 0), // MPI_Group_c2f
    Descriptor::new(1, 2, 0), // MPI_Info_f2c
    Descriptor::new(1, 2, 0), // MPI_Info_c2f
    Descriptor::new(1, 2, 0), // MPI_Message_f2c
    Descriptor::new(1, 2, 0), // MPI_Message_c2f
    Descriptor::new(1, 2, 0), // MPI_Op_f2c
    Descriptor::new(1, 2, 0), // MPI_Op_c2f
    Descriptor::new(1, 2, 0), // MPI_Request_f2c
    Descriptor::new(1, 2, 0), // MPI_Request_c2f
    Descriptor::new(1, 2, 0), // MPI_Session_f2c
    Descriptor::new(1, 2, 0), // MPI_Session_c2f
    Descriptor::new(1, 2, 0), // MPI_Type_f2c
    Descriptor::new(1, 2, 0), // MPI_Type_c2f
    Descriptor::new(1, 2, 0), // MPI_Win_f2c
    Descriptor::new(1, 2, 0), // MPI_Win_c2f
    Descriptor::new(2, 3, 0), // MPI_Status_f2c
    Descriptor::new(2, 3, 0), // MPI_Status_c2f
    Descriptor::new(2, 3, 0), // MPI_Status_f082c
    Descriptor::new(2, 3, 0), // MPI_Status_c2f08
    Descriptor::new(2, 3, 0), // MPI_Status_f2f08
    Descriptor::new(2, 3, 0), // MPI_Status_f082f
    Descriptor::new(1, 2, 0), // MPI_F_sync_reg
    Descriptor::new(1, 2, 0), // MPI_Comm_toint
    Descriptor::new(1, 2, 0), // MPI_Comm_fromint
    Descriptor::new(1, 2, 0), // MPI_Errhandler_toint
    Descriptor::new(1, 2, 0), // MPI_Errhandler_fromint
    Descriptor::new(1, 2, 0), // MPI_File_toint
    Descriptor::new(1, 2, 0), // MPI_File_fromint
    Descriptor::new(1, 2, 0), // MPI_Group_toint
    Descriptor::new(1, 2, 0), // MPI_Group_fromint
    Descriptor::new(1, 2, 0), // MPI_Info_toint
    Descriptor::new(1, 2, 0), // MPI_Info_fromint
    Descriptor::new(1, 2, 0), // MPI_Message_toint
    Descriptor::new(1, 2, 0), // MPI_Message_fromint
    Descriptor::new(1, 2, 0), // MPI_Op_toint
    Descriptor::new(1, 2, 0), // MPI_Op_fromint
    Descriptor::new(1, 2, 0), // MPI_Request_toint
    Descriptor::new(1, 2, 0), // MPI_Request_fromint
    Descriptor::new(1, 2, 0), // MPI_Session_toint
    Descriptor::new(1, 2, 0), // MPI_Session_fromint
    Descriptor::new(1, 2, 0), // MPI_Type_toint
    Descriptor::new(1, 2, 0), // MPI_Type_fromint
    Descriptor::new(1, 2, 0), // MPI_Win_toint
    Descriptor::new(1, 2, 0), // MPI_Win_fromint
    Descriptor::new(2, 3, 0), // MPI_Abi_get_version
    Descriptor::new(1, 2, 0), // MPI_Abi_get_info
    Descriptor::new(1, 2, 0), // MPI_Abi_get_fortran_info
    Descriptor::new(1, 2, 0), // MPI_Abi_set_fortran_info
    Descriptor::new(4, 5, 0), // MPI_Abi_get_fortran_booleans
    Descriptor::new(3, 4, 0), // MPI_Abi_set_fortran_booleans
    Descriptor::new(4, 5, 0), // MPI_Keyval_create
    Descriptor::new(1, 2, 0), // MPI_Keyval_free
    Descriptor::new(3, 4, 0), // MPI_Attr_put
    Descriptor::new(4, 5, 0), // MPI_Attr_get
    Descriptor::new(2, 3, 0), // MPI_Attr_delete
    Descriptor::new(2, 3, 0), // MPI_Address
    Descriptor::new(2, 3, 0), // MPI_Errhandler_create
    Descriptor::new(2, 3, 0), // MPI_Errhandler_get
    Descriptor::new(2, 3, 0), // MPI_Errhandler_set
    Descriptor::new(2, 3, 0), // MPI_Type_count
    Descriptor::new(2, 3, 0), // MPI_Type_extent
    Descriptor::new(5, 6, 0), // MPI_Type_hindexed
    Descriptor::new(5, 6, 0), // MPI_Type_hvector
    Descriptor::new(2, 3, 0), // MPI_Type_lb
    Descriptor::new(5, 6, 0), // MPI_Type_struct
    Descriptor::new(2, 3, 0), // MPI_Type_ub
]);

static NAMES: &[u8; 7379] = b"\
    SendIsendSend_initBsendIbsendBsend_initSsendIssendSsend_initRsendIrsendRsend_initRecvIrecvRe\
    cv_initSendrecvSendrecv_replaceIsendrecvIsendrecv_replaceProbeIprobeMprobeImprobeMrecvImrecv\
    Buffer_attachBuffer_detachBuffer_flushBuffer_iflushComm_attach_bufferComm_detach_bufferComm_\
    flush_bufferComm_iflush_bufferSession_attach_bufferSession_detach_bufferSession_flush_buffer\
    Session_iflush_bufferWaitWaitanyWaitallWaitsomeTestTestanyTestallTestsomeStartStartallReques\
    t_get_statusRequest_get_status_anyRequest_get_status_allRequest_get_status_someRequest_freeC\
    ancelTest_cancelledGet_countGet_elementsGet_elements_xStatus_get_sourceStatus_get_tagStatus_\
    get_errorStatus_set_sourceStatus_set_tagStatus_set_errorGrequest_startGrequest_completeStatu\
    s_set_elementsStatus_set_elements_xStatus_set_cancelledPsend_initPrecv_initPreadyPready_rang\
    ePready_listParrivedType_contiguousType_vectorType_create_hvectorType_indexedType_create_hin\
    dexedType_create_indexed_blockType_create_hindexed_blockType_create_structType_create_subarr\
    ayType_create_darrayType_create_resizedType_dupType_commitType_freeGet_addressAint_addAint_d\
    iffType_sizeType_size_xType_get_extentType_get_extent_xType_get_true_extentType_get_true_ext\
    ent_xType_get_envelopeType_get_contentsType_get_value_indexPackUnpackPack_sizePack_externalU\
    npack_externalPack_external_sizeType_create_f90_integerType_create_f90_realType_create_f90_c\
    omplexType_match_sizeSizeofBarrierIbarrierBarrier_initBcastIbcastBcast_initGatherIgatherGath\
    er_initGathervIgathervGatherv_initScatterIscatterScatter_initScattervIscattervScatterv_initA\
    llgatherIallgatherAllgather_initAllgathervIallgathervAllgatherv_initAlltoallIalltoallAlltoal\
    l_initAlltoallvIalltoallvAlltoallv_initAlltoallwIalltoallwAlltoallw_initReduceIreduceReduce_\
    initAllreduceIallreduceAllreduce_initReduce_scatter_blockIreduce_scatter_blockReduce_scatter\
    _block_initReduce_scatterIreduce_scatterReduce_scatter_initScanIscanScan_initExscanIexscanEx\
    scan_initOp_createOp_freeOp_commutativeReduce_localGroup_sizeGroup_rankGroup_translate_ranks\
    Group_compareComm_groupGroup_unionGroup_intersectionGroup_differenceGroup_inclGroup_exclGrou\
    p_range_inclGroup_range_exclGroup_freeComm_sizeComm_rankComm_compareComm_dupComm_dup_with_in\
    foComm_idupComm_idup_with_infoComm_createComm_create_groupComm_splitComm_split_typeComm_crea\
    te_from_groupComm_freeComm_set_infoComm_get_infoComm_test_interComm_remote_sizeComm_remote_g\
    roupIntercomm_createIntercomm_create_from_groupsIntercomm_mergeComm_set_nameComm_get_nameTyp\
    e_set_nameType_get_nameWin_set_nameWin_get_nameComm_create_keyvalComm_free_keyvalComm_set_at\
    trComm_get_attrComm_delete_attrType_create_keyvalType_free_keyvalType_set_attrType_get_attrT\
    ype_delete_attrWin_create_keyvalWin_free_keyvalWin_set_attrWin_get_attrWin_delete_attrCart_c\
    reateDims_createCartdim_getCart_getCart_rankCart_coordsCart_shiftCart_subCart_mapGraph_creat\
    eGraphdims_getGraph_getGraph_neighbors_countGraph_neighborsGraph_mapDist_graph_create_adjace\
    ntDist_graph_createDist_graph_neighbors_countDist_graph_neighborsTopo_testNeighbor_allgather\
    Ineighbor_allgatherNeighbor_allgather_initNeighbor_allgathervIneighbor_allgathervNeighbor_al\
    lgatherv_initNeighbor_alltoallIneighbor_alltoallNeighbor_alltoall_initNeighbor_alltoallvInei\
    ghbor_alltoallvNeighbor_alltoallv_initNeighbor_alltoallwIneighbor_alltoallwNeighbor_alltoall\
    w_initGet_versionGet_library_versionGet_processor_nameGet_hw_resource_infoAlloc_memFree_memC\
    omm_create_errhandlerComm_set_errhandlerComm_get_errhandlerWin_create_errhandlerWin_set_errh\
    andlerWin_get_errhandlerFile_create_errhandlerFile_set_errhandlerFile_get_errhandlerSession_\
    create_errhandlerSession_set_errhandlerSession_get_errhandlerErrhandler_freeComm_call_errhan\
    dlerWin_call_errhandlerFile_call_errhandlerSession_call_errhandlerError_stringError_classAdd\
    _error_classRemove_error_classAdd_error_codeRemove_error_codeAdd_error_stringRemove_error_st\
    ringWtimeWtickInfo_createInfo_create_envInfo_dupInfo_freeInfo_setInfo_deleteInfo_getInfo_get\
    _valuelenInfo_get_stringInfo_get_nkeysInfo_get_nthkeyInitInit_threadInitializedFinalizeFinal\
    izedAbortQuery_threadIs_thread_mainSession_initSession_finalizeSession_get_infoSession_get_n\
    um_psetsSession_get_nth_psetSession_get_pset_infoGroup_from_session_psetComm_spawnComm_spawn\
    _multipleComm_get_parentOpen_portClose_portComm_acceptComm_connectPublish_nameUnpublish_name\
    Lookup_nameComm_disconnectComm_joinWin_createWin_allocateWin_allocate_sharedWin_shared_query\
    Win_create_dynamicWin_attachWin_detachWin_freeWin_get_groupWin_set_infoWin_get_infoPutRputGe\
    tRgetAccumulateRaccumulateGet_accumulateRget_accumulateFetch_and_opCompare_and_swapWin_fence\
    Win_startWin_completeWin_postWin_waitWin_testWin_lockWin_lock_allWin_unlockWin_unlock_allWin\
    _flushWin_flush_allWin_flush_localWin_flush_local_allWin_syncFile_openFile_closeFile_deleteF\
    ile_set_sizeFile_preallocateFile_get_sizeFile_get_groupFile_get_amodeFile_set_infoFile_get_i\
    nfoFile_set_viewFile_get_viewFile_seekFile_get_positionFile_get_byte_offsetFile_seek_sharedF\
    ile_get_position_sharedFile_get_type_extentRegister_datarepFile_set_atomicityFile_get_atomic\
    ityFile_syncFile_read_atFile_iread_atFile_read_at_allFile_iread_at_allFile_read_at_all_begin\
    File_read_at_all_endFile_write_atFile_iwrite_atFile_write_at_allFile_iwrite_at_allFile_write\
    _at_all_beginFile_write_at_all_endFile_readFile_ireadFile_read_allFile_iread_allFile_read_al\
    l_beginFile_read_all_endFile_writeFile_iwriteFile_write_allFile_iwrite_allFile_write_all_beg\
    inFile_write_all_endFile_read_sharedFile_iread_sharedFile_read_orderedFile_read_ordered_begi\
    nFile_read_ordered_endFile_write_sharedFile_iwrite_sharedFile_write_orderedFile_write_ordere\
    d_beginFile_write_ordered_endPcontrolT_init_threadT_finalizeT_enum_get_infoT_enum_get_itemT_\
    cvar_get_indexT_cvar_get_infoT_cvar_get_numT_cvar_handle_allocT_cvar_handle_freeT_cvar_readT\
    _cvar_writeT_pvar_get_indexT_pvar_get_infoT_pvar_get_numT_pvar_handle_allocT_pvar_handle_fre\
    eT_pvar_readT_pvar_readresetT_pvar_resetT_pvar_session_createT_pvar_session_freeT_pvar_start\
    T_pvar_stopT_pvar_writeT_event_callback_get_infoT_event_callback_set_infoT_event_copyT_event\
    _get_indexT_event_get_infoT_event_get_numT_event_get_sourceT_event_get_timestampT_event_hand\
    le_allocT_event_handle_freeT_event_handle_get_infoT_event_handle_set_infoT_event_readT_event\
    _register_callbackT_event_set_dropped_handlerT_source_get_infoT_source_get_numT_source_get_t\
    imestampT_category_changedT_category_get_categoriesT_category_get_cvarsT_category_get_events\
    T_category_get_indexT_category_get_infoT_category_get_numT_category_get_num_eventsT_category\
    _get_pvarsComm_f2cComm_c2fErrhandler_f2cErrhandler_c2fFile_f2cFile_c2fGroup_f2cGroup_c2fInfo\
    _f2cInfo_c2fMessage_f2cMessage_c2fOp_f2cOp_c2fRequest_f2cRequest_c2fSession_f2cSession_c2fTy\
    pe_f2cType_c2fWin_f2cWin_c2fStatus_f2cStatus_c2fStatus_f082cStatus_c2f08Status_f2f08Status_f\
    082fF_sync_regComm_tointComm_fromintErrhandler_tointErrhandler_fromintFile_tointFile_fromint\
    Group_tointGroup_fromintInfo_tointInfo_fromintMessage_tointMessage_fromintOp_tointOp_fromint\
    Request_tointRequest_fromintSession_tointSession_fromintType_tointType_fromintWin_tointWin_f\
    romintAbi_get_versionAbi_get_infoAbi_get_fortran_infoAbi_set_fortran_infoAbi_get_fortran_boo\
    leansAbi_set_fortran_booleansKeyval_createKeyval_freeAttr_putAttr_getAttr_deleteAddressErrha\
    ndler_createErrhandler_getErrhandler_setType_countType_extentType_hindexedType_hvectorType_l\
    bType_structType_ub\
";

static ENDS: [u16; 544] = [
    4, 9, 18, 23, 29, 39, 44, 50, 60, 65, 71, 81, 85, 90, 99, 107,
    123, 132, 149, 154, 160, 166, 173, 178, 184, 197, 210, 222, 235, 253, 271, 288,
    306, 327, 348, 368, 389, 393, 400, 407, 415, 419, 426, 433, 441, 446, 454, 472,
    494, 516, 539, 551, 557, 571, 580, 592, 606, 623, 637, 653, 670, 684, 700, 714,
    731, 750, 771, 791, 801, 811, 817, 829, 840, 848, 863, 874, 893, 905, 925, 950,
    976, 994, 1014, 1032, 1051, 1059, 1070, 1079, 1090, 1098, 1107, 1116, 1127, 1142, 1159, 1179,
    1201, 1218, 1235, 1255, 1259, 1265, 1274, 1287, 1302, 1320, 1343, 1363, 1386, 1401, 1407, 1414,
    1422, 1434, 1439, 1445, 1455, 1461, 1468, 1479, 1486, 1494, 1506, 1513, 1521, 1533, 1541, 1550,
    1563, 1572, 1582, 1596, 1606, 1617, 1632, 1640, 1649, 1662, 1671, 1681, 1695, 1704, 1714, 1728,
    1734, 1741, 1752, 1761, 1771, 1785, 1805, 1826, 1851, 1865, 1880, 1899, 1903, 1908, 1917, 1923,
    1930, 1941, 1950, 1957, 1971, 1983, 1993, 2003, 2024, 2037, 2047, 2058, 2076, 2092, 2102, 2112,
    2128, 2144, 2154, 2163, 2172, 2184, 2192, 2210, 2219, 2238, 2249, 2266, 2276, 2291, 2313, 2322,
    2335, 2348, 2363, 2379, 2396, 2412, 2440, 2455, 2468, 2481, 2494, 2507, 2519, 2531, 2549, 2565,
    2578, 2591, 2607, 2625, 2641, 2654, 2667, 2683, 2700, 2715, 2727, 2739, 2754, 2765, 2776, 2787,
    2795, 2804, 2815, 2825, 2833, 2841, 2853, 2866, 2875, 2896, 2911, 2920, 2946, 2963, 2989, 3009,
    3018, 3036, 3055, 3078, 3097, 3117, 3141, 3158, 3176, 3198, 3216, 3235, 3258, 3276, 3295, 3318,
    3329, 3348, 3366, 3386, 3395, 3403, 3425, 3444, 3463, 3484, 3502, 3520, 3542, 3561, 3580, 3605,
    3627, 3649, 3664, 3684, 3703, 3723, 3746, 3758, 3769, 3784, 3802, 3816, 3833, 3849, 3868, 3873,
    3878, 3889, 3904, 3912, 3921, 3929, 3940, 3948, 3965, 3980, 3994, 4009, 4013, 4024, 4035, 4043,
    4052, 4057, 4069, 4083, 4095, 4111, 4127, 4148, 4168, 4189, 4212, 4222, 4241, 4256, 4265, 4275,
    4286, 4298, 4310, 4324, 4335, 4350, 4359, 4369, 4381, 4400, 4416, 4434, 4444, 4454, 4462, 4475,
    4487, 4499, 4502, 4506, 4509, 4513, 4523, 4534, 4548, 4563, 4575, 4591, 4600, 4609, 4621, 4629,
    4637, 4645, 4653, 4665, 4675, 4689, 4698, 4711, 4726, 4745, 4753, 4762, 4772, 4783, 4796, 4812,
    4825, 4839, 4853, 4866, 4879, 4892, 4905, 4914, 4931, 4951, 4967, 4991, 5011, 5027, 5045, 5063,
    5072, 5084, 5097, 5113, 5130, 5152, 5172, 5185, 5199, 5216, 5234, 5257, 5278, 5287, 5297, 5310,
    5324, 5343, 5360, 5370, 5381, 5395, 5410, 5430, 5448, 5464, 5481, 5498, 5521, 5542, 5559, 5577,
    5595, 5619, 5641, 5649, 5662, 5672, 5687, 5702, 5718, 5733, 5747, 5766, 5784, 5795, 5807, 5823,
    5838, 5852, 5871, 5889, 5900, 5916, 5928, 5949, 5968, 5980, 5991, 6003, 6028, 6053, 6065, 6082,
    6098, 6113, 6131, 6152, 6172, 6191, 6214, 6237, 6249, 6274, 6301, 6318, 6334, 6356, 6374, 6399,
    6419, 6440, 6460, 6479, 6497, 6522, 6542, 6550, 6558, 6572, 6586, 6594, 6602, 6611, 6620, 6628,
    6636, 6647, 6658, 6664, 6670, 6681, 6692, 6703, 6714, 6722, 6730, 6737, 6744, 6754, 6764, 6776,
    6788, 6800, 6812, 6822, 6832, 6844, 6860, 6878, 6888, 6900, 6911, 6924, 6934, 6946, 6959, 6974,
    6982, 6992, 7005, 7020, 7033, 7048, 7058, 7070, 7079, 7090, 7105, 7117, 7137, 7157, 7181, 7205,
    7218, 7229, 7237, 7245, 7256, 7263, 7280, 7294, 7308, 7318, 7329, 7342, 7354, 7361, 7372, 7379,
];

/// The name of a function, without `MPI_`.
pub fn name(function: usize) -> &'static [u8] {
    let begin = function.checked_sub(1).and_then(|i| ENDS.get(i)).copied().unwrap_or(0);
    let end = ENDS.get(function).copied().unwrap_or(begin);
    NAMES.get(usize::from(begin)..usize::from(end)).unwrap_or_default()
}
