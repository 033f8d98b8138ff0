//! What only the extended module asks, in which every rank measures: the variables beyond
//! those of [`crate::vars`], and which ranks share this host.

use topas_format::hash::{place, word};
use topas_format::text::{Cursor, whole};

use crate::launcher::{Family, Rank};

macro_rules! table {
    ($($family:ident: $local:literal of $total:tt;)*) => {
        /// `TOPAS_OUT`, then two for each row of [`ROWS`].
        const HASHES: [u32; COUNT] =
            [word(b"TOPAS_OUT"), $(word($local.as_bytes()), table!(hash $total)),*];

        const COUNT: usize = 1 $(+ 2 + 0 * $local.len())*;

        /// Family, whether the second variable is a number of nodes.
        const ROWS: &[(Family, bool)] = &[$((Family::$family, table!(nodes $total))),*];

        /// The names of the table; not linked into user programs.
        pub const NAMES: &[&str] = &["TOPAS_OUT", $($local, table!(name $total)),*];
    };
    (hash [$kind:ident $name:literal]) => { word($name.as_bytes()) };
    (name [$kind:ident $name:literal]) => { $name };
    (nodes [ranks $name:literal]) => { false };
    (nodes [nodes $name:literal]) => { true };
}

// The rank's place among those of its host, and the number of these or of hosts.
table! {
    OpenMpi: "OMPI_COMM_WORLD_LOCAL_RANK" of [ranks "OMPI_COMM_WORLD_LOCAL_SIZE"];
    Mvapich2: "MV2_COMM_WORLD_LOCAL_RANK" of [ranks "MV2_COMM_WORLD_LOCAL_SIZE"];
    Pals: "PALS_LOCAL_RANKID" of [ranks "PALS_LOCAL_SIZE"];
    Flux: "FLUX_TASK_LOCAL_ID" of [nodes "FLUX_JOB_NNODES"];
    Jsm: "JSM_NAMESPACE_LOCAL_RANK" of [ranks "JSM_NAMESPACE_LOCAL_SIZE"];
    Pmi: "MPI_LOCALRANKID" of [ranks "MPI_LOCALNRANKS"];
    Slurm: "SLURM_LOCALID" of [nodes "SLURM_STEP_NUM_NODES"];
    Torch: "LOCAL_RANK" of [ranks "LOCAL_WORLD_SIZE"];
}

/// The values of these variables.
#[derive(Clone, Debug)]
pub struct Extended<'a> {
    values: [Option<&'a [u8]>; COUNT],
}

impl<'a> Extended<'a> {
    /// None of them.
    pub const fn new() -> Self {
        Extended { values: [None; COUNT] }
    }

    /// Takes an entry `NAME=value` if it is one of these; the first of several wins.
    pub fn offer(&mut self, entry: &'a [u8]) {
        let mut text = Cursor::new(entry);
        let place = place(&HASHES, text.until(b'='));
        if let Some(value) = place.and_then(|at| self.values.get_mut(at))
            && value.is_none()
        {
            *value = Some(text.rest);
        }
    }

    /// `TOPAS_OUT`, empty if it is not set.
    pub fn out(&self) -> &'a [u8] {
        let [out, ..] = self.values;
        out.unwrap_or_default()
    }

    /// The two numbers of a family: place on the host, and how many there are; whether these
    /// are hosts.
    fn of(&self, family: Family) -> (Option<u32>, Option<u32>, bool) {
        let number = |at| self.values.get(at).copied().flatten().and_then(whole);
        for (at, (known, nodes)) in ROWS.iter().enumerate() {
            if *known == family {
                return (number(2 * at + 1), number(2 * at + 2), *nodes);
            }
        }
        (None, None, false)
    }

    /// Whether the launcher tells that all ranks of the launch are on this host, and then tells
    /// it all of them.
    pub fn one_host(&self, rank: &Rank) -> bool {
        let (_, count, nodes) = self.of(rank.family);
        rank.size == 1 || rank.size > 0 && count == Some(if nodes { 1 } else { rank.size })
    }

    /// How many ranks of the launch are on this host; None if the launcher does not tell.
    pub fn ranks_here(&self, rank: &Rank) -> Option<u32> {
        match self.of(rank.family) {
            (_, Some(nodes), true) => (nodes == 1).then_some(rank.size),
            (_, count, _) => count,
        }
    }

    /// Whether this rank speaks for those of its host: the first of them, or of the launch where
    /// the launcher does not number them.
    pub fn speaks(&self, rank: &Rank) -> bool {
        let (local, _, _) = self.of(rank.family);
        local.unwrap_or(rank.rank) == 0
    }
}

impl Default for Extended<'_> {
    fn default() -> Self {
        Extended::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &'static str) -> Extended<'static> {
        let mut vars = Extended::new();
        for entry in text.split_whitespace() {
            vars.offer(entry.as_bytes());
        }
        vars
    }

    const fn rank(family: Family, rank: u32, size: u32) -> Rank {
        Rank { family, rank, size, id: 0 }
    }

    #[test]
    fn no_two_names_have_one_hash() {
        assert_eq!(NAMES.len(), COUNT);
        assert!(NAMES.iter().all(|name| crate::Vars::may_begin(name.as_bytes()[0])));
        for (at, hash) in HASHES.iter().enumerate() {
            assert_eq!(*hash, word(NAMES[at].as_bytes()));
            assert!(!HASHES[at + 1..].contains(hash), "{}", NAMES[at]);
        }
    }

    #[test]
    fn one_host_is_told_by_ranks_or_by_nodes() {
        let ompi = |size| rank(Family::OpenMpi, 1, size);
        assert!(of("OMPI_COMM_WORLD_LOCAL_SIZE=4").one_host(&ompi(4)));
        assert!(!of("OMPI_COMM_WORLD_LOCAL_SIZE=2").one_host(&ompi(4)));
        assert_eq!(of("OMPI_COMM_WORLD_LOCAL_SIZE=2").ranks_here(&ompi(4)), Some(2));
        assert_eq!(of("MPI_LOCALNRANKS=2").ranks_here(&ompi(4)), None);
        let slurm = rank(Family::Slurm, 0, 6);
        assert_eq!(of("SLURM_STEP_NUM_NODES=1").ranks_here(&slurm), Some(6));
        assert_eq!(of("SLURM_STEP_NUM_NODES=2").ranks_here(&slurm), None);
        assert!(!of("").one_host(&ompi(4)));
        let srun = rank(Family::Slurm, 1, 4);
        assert!(of("SLURM_STEP_NUM_NODES=1").one_host(&srun));
        assert!(!of("SLURM_STEP_NUM_NODES=4").one_host(&srun));
        // Those of another launcher, nearer or farther, do not count.
        assert!(!of("MPI_LOCALNRANKS=4").one_host(&ompi(4)));
        assert!(of("").one_host(&rank(Family::Own, 0, 1)));
        assert!(!of("MPI_LOCALNRANKS=0").one_host(&rank(Family::Pmi, 0, 0)));
    }

    #[test]
    fn one_rank_of_a_host_speaks() {
        let hydra = |place| rank(Family::Pmi, place, 4);
        assert!(of("MPI_LOCALRANKID=0").speaks(&hydra(2)));
        assert!(!of("MPI_LOCALRANKID=1").speaks(&hydra(0)));
        assert!(of("").speaks(&hydra(0)) && !of("").speaks(&hydra(1)));
    }

    #[test]
    fn the_first_of_two_wins() {
        assert_eq!(of("TOPAS_OUT=a TOPAS_OUT=b TOPAS_OUTER=c").out(), b"a");
        assert_eq!(of("").out(), b"");
    }
}
