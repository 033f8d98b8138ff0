//! Collective routines over all ranks.

use topas_mpi_data::RoutineCost;

use crate::calibrate::Bench;
use crate::opened_mpi::Parts;

/// What short calls move, in B: calls that move nothing return at once.
const SHORT: usize = 8;

/// A routine: its name, and what a call with so many bytes moves per rank, in these bytes. That
/// is the larger of what all ranks send and of what they receive, by their number.
struct Collective {
    name: &'static str,
    moves: fn(ranks: f64) -> f64,
    /// Whether each rank has a part for each other
    parts: bool,
}

const fn collective(name: &'static str, moves: fn(f64) -> f64, parts: bool) -> Collective {
    Collective { name, moves, parts }
}

/// All but the root receive.
fn from_root(ranks: f64) -> f64 {
    (ranks - 1.0) / ranks
}

fn once(_: f64) -> f64 {
    1.0
}

fn each(ranks: f64) -> f64 {
    ranks
}

const COLLECTIVES: [Collective; 15] = [
    collective("Bcast", from_root, false),
    collective("Reduce", once, false),
    collective("Allreduce", once, false),
    collective("Scan", once, false),
    collective("Exscan", from_root, false),
    collective("Gather", once, true),
    collective("Gatherv", once, true),
    collective("Scatter", once, true),
    collective("Scatterv", once, true),
    collective("Allgather", each, true),
    collective("Allgatherv", each, true),
    collective("Alltoall", each, true),
    collective("Alltoallv", each, true),
    collective("Reduce_scatter_block", each, true),
    collective("Reduce_scatter", each, true),
];

/// Measures all of them.
pub fn measure(bench: &Bench<'_>, longest: usize, costs: &mut Vec<RoutineCost>) {
    let (mpi, ranks) = (bench.mpi, bench.ranks as usize);
    let barrier = bench.together(|| mpi.barrier());
    costs.extend(bench.cost("Barrier", bench.ranks, barrier, None));
    // Room for a part of the shortest for each rank.
    let longest = longest.max(SHORT * ranks).next_multiple_of(SHORT);
    let data = vec![1u8; longest];
    let mut room = vec![0u8; longest];
    let numbers = vec![1.0f64; longest / SHORT];
    let mut sums = vec![0.0f64; longest / SHORT];
    for Collective { name, moves, parts } in &COLLECTIVES {
        let mut time = |bytes: usize| {
            let equal = Parts::new(ranks, bytes);
            let each = bytes / SHORT;
            let number_parts = Parts::new(ranks, each);
            let function = format!("MPI_{name}");
            let (all, some) = (bytes * ranks, each * ranks);
            bench.together(|| match *name {
                "Bcast" => mpi.broadcast(&mut room[..bytes]),
                "Reduce" => mpi.reduce_to_root(&numbers[..each], &mut sums[..each]),
                "Allreduce" | "Scan" | "Exscan" => {
                    mpi.reduce(&function, &numbers[..each], &mut sums[..each]);
                }
                "Gather" => mpi.rooted(&function, &data[..bytes], &mut room[..all], bytes),
                "Scatter" => mpi.rooted(&function, &data[..all], &mut room[..bytes], bytes),
                "Gatherv" => mpi.gather_parts(&data[..bytes], &mut room[..all], &equal),
                "Scatterv" => mpi.scatter_parts(&data[..all], &mut room[..bytes], &equal),
                "Allgather" => mpi.all(&function, &data[..bytes], &mut room[..all], bytes),
                "Alltoall" => mpi.all(&function, &data[..all], &mut room[..all], bytes),
                "Allgatherv" => mpi.all_gather_parts(&data[..bytes], &mut room[..all], &equal),
                "Alltoallv" => mpi.all_to_all_parts(&data[..all], &mut room[..all], &equal),
                "Reduce_scatter_block" => {
                    mpi.reduce_scatter(&numbers[..some], &mut sums[..each], each);
                }
                _ => mpi.reduce_scatter_parts(&numbers[..some], &mut sums[..each], &number_parts),
            })
        };
        let short = time(SHORT);
        let most = if *parts { longest / ranks / SHORT * SHORT } else { longest };
        let more = (most - SHORT) as f64 * moves(bench.ranks.into());
        let long = (most > SHORT).then(|| (time(most), more));
        costs.extend(bench.cost(name, bench.ranks, short, long));
    }
}
