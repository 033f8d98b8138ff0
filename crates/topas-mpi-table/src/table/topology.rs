//! Virtual topologies, and the collectives that follow them.

use crate::row::mpi;

mpi! {
    // Cartesian
    1.0 MPI_Cart_create(
        in comm_old: Comm, in ndims: Length, in dims: Int[ndims], in periods: Logical[ndims],
        in reorder: Logical, out comm_cart: Comm
    ) Topology, waits(Group);
    1.0 MPI_Dims_create(in nnodes: Int, in ndims: Length, inout dims: Int[ndims]) Topology;
    1.0 MPI_Cartdim_get(in comm: Comm, out ndims: Length) Topology;
    1.0 MPI_Cart_get(
        in comm: Comm, in maxdims: Length, out dims: Int[maxdims], out periods: Logical[maxdims],
        out coords: Int[maxdims]
    ) Topology;
    1.0 MPI_Cart_rank(in comm: Comm, in coords: Int[dimensions], out rank: Rank) Topology;
    1.0 MPI_Cart_coords(
        in comm: Comm, in rank: Rank, in maxdims: Length, out coords: Int[maxdims]
    ) Topology;
    1.0 MPI_Cart_shift(
        in comm: Comm, in direction: Int, in disp: Int, out rank_source: Rank, out rank_dest: Rank
    ) Topology;
    1.0 MPI_Cart_sub(
        in comm: Comm, in remain_dims: Logical[dimensions], out newcomm: Comm
    ) Topology, waits(Group);
    1.0 MPI_Cart_map(
        in comm: Comm, in ndims: Length, in dims: Int[ndims], in periods: Logical[ndims],
        out newrank: Rank
    ) Topology;

    // Graphs
    1.0 MPI_Graph_create(
        in comm_old: Comm, in nnodes: Int, in index: Int[nnodes], in edges: Rank[last index],
        in reorder: Logical, out comm_graph: Comm
    ) Topology, waits(Group);
    1.0 MPI_Graphdims_get(in comm: Comm, out nnodes: Length, out nedges: Length) Topology;
    1.0 MPI_Graph_get(
        in comm: Comm, in maxindex: Length, in maxedges: Length, out index: Int[maxindex],
        out edges: Rank[maxedges]
    ) Topology;
    1.0 MPI_Graph_neighbors_count(in comm: Comm, in rank: Rank, out nneighbors: Length) Topology;
    1.0 MPI_Graph_neighbors(
        in comm: Comm, in rank: Rank, in maxneighbors: Length, out neighbors: Rank[maxneighbors]
    ) Topology;
    1.0 MPI_Graph_map(
        in comm: Comm, in nnodes: Length, in index: Int[nnodes], in edges: Rank[last index],
        out newrank: Rank
    ) Topology;

    // Distributed graphs
    2.2 MPI_Dist_graph_create_adjacent(
        in comm_old: Comm, in indegree: Length, in sources: Rank[indegree],
        in sourceweights: Int[indegree], in outdegree: Length, in destinations: Rank[outdegree],
        in destweights: Int[outdegree], in info: Info, in reorder: Logical,
        out comm_dist_graph: Comm
    ) Topology, waits(Group);
    2.2 MPI_Dist_graph_create(
        in comm_old: Comm, in n: Length, in sources: Rank[n], in degrees: Length[n],
        in destinations: Rank[sum degrees], in weights: Int[sum degrees], in info: Info,
        in reorder: Logical, out comm_dist_graph: Comm
    ) Topology, waits(Group);
    2.2 MPI_Dist_graph_neighbors_count(
        in comm: Comm, out indegree: Length, out outdegree: Length, out weighted: Logical
    ) Topology;
    2.2 MPI_Dist_graph_neighbors(
        in comm: Comm, in maxindegree: Length, out sources: Rank[maxindegree],
        out sourceweights: Int[maxindegree], in maxoutdegree: Length,
        out destinations: Rank[maxoutdegree], out destweights: Int[maxoutdegree]
    ) Topology;

    // Any
    1.0 MPI_Topo_test(in comm: Comm, out status: Int) Topology;

    // Collectives with neighbours
    3.0 MPI_Neighbor_allgather(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, out recvbuf: Choice,
        in recvcount: Count, in recvtype: Datatype, in comm: Comm
    ) Neighborhood(Blocking), large(4.0)
        + Nonblocking 3.0 MPI_Ineighbor_allgather
        + Persistent 4.0 MPI_Neighbor_allgather_init
    {
        sends sendbuf(sendcount * sendtype);
        receives recvbuf(sources * recvcount * recvtype);
    }
    3.0 MPI_Neighbor_allgatherv(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, out recvbuf: Choice,
        in recvcounts: Count[sources], in displs: Displacement[sources], in recvtype: Datatype,
        in comm: Comm
    ) Neighborhood(Blocking), large(4.0)
        + Nonblocking 3.0 MPI_Ineighbor_allgatherv
        + Persistent 4.0 MPI_Neighbor_allgatherv_init
    {
        sends sendbuf(sendcount * sendtype);
        receives recvbuf(sum sources recvcounts * recvtype);
    }
    3.0 MPI_Neighbor_alltoall(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, out recvbuf: Choice,
        in recvcount: Count, in recvtype: Datatype, in comm: Comm
    ) Neighborhood(Blocking), large(4.0)
        + Nonblocking 3.0 MPI_Ineighbor_alltoall
        + Persistent 4.0 MPI_Neighbor_alltoall_init
    {
        sends sendbuf(destinations * sendcount * sendtype);
        receives recvbuf(sources * recvcount * recvtype);
    }
    3.0 MPI_Neighbor_alltoallv(
        in sendbuf: Choice, in sendcounts: Count[destinations],
        in sdispls: Displacement[destinations], in sendtype: Datatype, out recvbuf: Choice,
        in recvcounts: Count[sources], in rdispls: Displacement[sources], in recvtype: Datatype,
        in comm: Comm
    ) Neighborhood(Blocking), large(4.0)
        + Nonblocking 3.0 MPI_Ineighbor_alltoallv
        + Persistent 4.0 MPI_Neighbor_alltoallv_init
    {
        sends sendbuf(sum destinations sendcounts * sendtype);
        receives recvbuf(sum sources recvcounts * recvtype);
    }
    3.0 MPI_Neighbor_alltoallw(
        in sendbuf: Choice, in sendcounts: Count[destinations], in sdispls: Aint[destinations],
        in sendtypes: Datatype[destinations], out recvbuf: Choice, in recvcounts: Count[sources],
        in rdispls: Aint[sources], in recvtypes: Datatype[sources], in comm: Comm
    ) Neighborhood(Blocking), large(4.0)
        + Nonblocking 3.0 MPI_Ineighbor_alltoallw
        + Persistent 4.0 MPI_Neighbor_alltoallw_init
    {
        sends sendbuf(typed destinations sendcounts * sendtypes);
        receives recvbuf(typed sources recvcounts * recvtypes);
    }
}
