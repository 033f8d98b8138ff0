//! Groups, communicators, and what is attached to objects.

use crate::row::mpi;

mpi! {
    // Groups
    1.0 MPI_Group_size(in group: Group, out size: Int) Group;
    1.0 MPI_Group_rank(in group: Group, out rank: Rank) Group;
    1.0 MPI_Group_translate_ranks(
        in group1: Group, in n: Length, in ranks1: Rank[n], in group2: Group, out ranks2: Rank[n]
    ) Group;
    1.0 MPI_Group_compare(in group1: Group, in group2: Group, out result: Int) Group;
    1.0 MPI_Comm_group(in comm: Comm, out group: Group) Group;
    1.0 MPI_Group_union(in group1: Group, in group2: Group, out newgroup: Group) Group;
    1.0 MPI_Group_intersection(in group1: Group, in group2: Group, out newgroup: Group) Group;
    1.0 MPI_Group_difference(in group1: Group, in group2: Group, out newgroup: Group) Group;
    1.0 MPI_Group_incl(in group: Group, in n: Length, in ranks: Rank[n], out newgroup: Group) Group;
    1.0 MPI_Group_excl(in group: Group, in n: Length, in ranks: Rank[n], out newgroup: Group) Group;
    1.0 MPI_Group_range_incl(
        in group: Group, in n: Length, in ranges: RankRanges[n], out newgroup: Group
    ) Group;
    1.0 MPI_Group_range_excl(
        in group: Group, in n: Length, in ranges: RankRanges[n], out newgroup: Group
    ) Group;
    1.0 MPI_Group_free(inout group: Group) Group;

    // Communicators
    1.0 MPI_Comm_size(in comm: Comm, out size: Int) Communicator;
    1.0 MPI_Comm_rank(in comm: Comm, out rank: Rank) Communicator;
    1.0 MPI_Comm_compare(in comm1: Comm, in comm2: Comm, out result: Int) Communicator;
    1.0 MPI_Comm_dup(in comm: Comm, out newcomm: Comm) Communicator, waits(Group);
    3.0 MPI_Comm_dup_with_info(
        in comm: Comm, in info: Info, out newcomm: Comm
    ) Communicator, waits(Group);
    3.0 MPI_Comm_idup(in comm: Comm, out newcomm: Comm, out request: Request) Communicator;
    4.0 MPI_Comm_idup_with_info(
        in comm: Comm, in info: Info, out newcomm: Comm, out request: Request
    ) Communicator;
    1.0 MPI_Comm_create(
        in comm: Comm, in group: Group, out newcomm: Comm
    ) Communicator, waits(Group);
    3.0 MPI_Comm_create_group(
        in comm: Comm, in group: Group, in tag: Tag, out newcomm: Comm
    ) Communicator, waits(Group);
    1.0 MPI_Comm_split(
        in comm: Comm, in color: Int, in key: Int, out newcomm: Comm
    ) Communicator, waits(Group);
    3.0 MPI_Comm_split_type(
        in comm: Comm, in split_type: Int, in key: Int, in info: Info, out newcomm: Comm
    ) Communicator, waits(Group);
    4.0 MPI_Comm_create_from_group(
        in group: Group, in stringtag: String, in info: Info, in errhandler: Errhandler,
        out newcomm: Comm
    ) Communicator, waits(Group);
    1.0 MPI_Comm_free(inout comm: Comm) Communicator, waits(Group);
    3.0 MPI_Comm_set_info(in comm: Comm, in info: Info) Communicator, waits(Group);
    3.0 MPI_Comm_get_info(in comm: Comm, out info_used: Info) Communicator;

    // Between groups
    1.0 MPI_Comm_test_inter(in comm: Comm, out flag: Logical) Communicator;
    1.0 MPI_Comm_remote_size(in comm: Comm, out size: Int) Communicator;
    1.0 MPI_Comm_remote_group(in comm: Comm, out group: Group) Communicator;
    1.0 MPI_Intercomm_create(
        in local_comm: Comm, in local_leader: Rank, in peer_comm: Comm, in remote_leader: Rank,
        in tag: Tag, out newintercomm: Comm
    ) Communicator, waits(Group);
    4.0 MPI_Intercomm_create_from_groups(
        in local_group: Group, in local_leader: Rank, in remote_group: Group,
        in remote_leader: Rank, in stringtag: String, in info: Info, in errhandler: Errhandler,
        out newintercomm: Comm
    ) Communicator, waits(Group);
    1.0 MPI_Intercomm_merge(
        in intercomm: Comm, in high: Logical, out newintracomm: Comm
    ) Communicator, waits(Group);

    // Names
    2.0 MPI_Comm_set_name(in comm: Comm, in comm_name: String) Communicator;
    2.0 MPI_Comm_get_name(
        in comm: Comm, out comm_name: String[const MPI_MAX_OBJECT_NAME], out resultlen: Length
    ) Communicator;
    2.0 MPI_Type_set_name(in datatype: Datatype, in type_name: String) Datatype;
    2.0 MPI_Type_get_name(
        in datatype: Datatype, out type_name: String[const MPI_MAX_OBJECT_NAME],
        out resultlen: Length
    ) Datatype;
    2.0 MPI_Win_set_name(in win: Win, in win_name: String) Window;
    2.0 MPI_Win_get_name(
        in win: Win, out win_name: String[const MPI_MAX_OBJECT_NAME], out resultlen: Length
    ) Window;

    // Attributes
    2.0 MPI_Comm_create_keyval(
        in comm_copy_attr_fn: CommCopyAttrFunction, in comm_delete_attr_fn: CommDeleteAttrFunction,
        out comm_keyval: Keyval, in extra_state: ExtraState
    ) Attribute;
    2.0 MPI_Comm_free_keyval(inout comm_keyval: Keyval) Attribute;
    2.0 MPI_Comm_set_attr(
        in comm: Comm, in comm_keyval: Keyval, in attribute_val: AttributeValue
    ) Attribute;
    2.0 MPI_Comm_get_attr(
        in comm: Comm, in comm_keyval: Keyval, out attribute_val: AttributeValue, out flag: Logical
    ) Attribute;
    2.0 MPI_Comm_delete_attr(in comm: Comm, in comm_keyval: Keyval) Attribute;
    2.0 MPI_Type_create_keyval(
        in type_copy_attr_fn: TypeCopyAttrFunction, in type_delete_attr_fn: TypeDeleteAttrFunction,
        out type_keyval: Keyval, in extra_state: ExtraState
    ) Attribute;
    2.0 MPI_Type_free_keyval(inout type_keyval: Keyval) Attribute;
    2.0 MPI_Type_set_attr(
        in datatype: Datatype, in type_keyval: Keyval, in attribute_val: AttributeValue
    ) Attribute;
    2.0 MPI_Type_get_attr(
        in datatype: Datatype, in type_keyval: Keyval, out attribute_val: AttributeValue,
        out flag: Logical
    ) Attribute;
    2.0 MPI_Type_delete_attr(in datatype: Datatype, in type_keyval: Keyval) Attribute;
    2.0 MPI_Win_create_keyval(
        in win_copy_attr_fn: WinCopyAttrFunction, in win_delete_attr_fn: WinDeleteAttrFunction,
        out win_keyval: Keyval, in extra_state: ExtraState
    ) Attribute;
    2.0 MPI_Win_free_keyval(inout win_keyval: Keyval) Attribute;
    2.0 MPI_Win_set_attr(
        in win: Win, in win_keyval: Keyval, in attribute_val: AttributeValue
    ) Attribute;
    2.0 MPI_Win_get_attr(
        in win: Win, in win_keyval: Keyval, out attribute_val: AttributeValue, out flag: Logical
    ) Attribute;
    2.0 MPI_Win_delete_attr(in win: Win, in win_keyval: Keyval) Attribute;
}
