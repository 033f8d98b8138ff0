//! The profile of a program that exchanges the borders of a plane with its neighbours, whose
//! ranks in the middle have more to do.
//!
//! Lines are put together here from their description, not by the code that programs write them
//! with.

use std::collections::BTreeMap;

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Ranks, in a grid as near to a square as they allow
    pub ranks: u32,
    /// Steps of the computation
    pub steps: u64,
    /// Ranks of a host
    pub per_host: u32,
    /// Launch id
    pub id: String,
    /// Time of day of the end
    pub time: String,
    /// Whether each rank is told, or only the sum
    pub single: bool,
}

impl Default for Launch {
    fn default() -> Self {
        Launch {
            ranks: 16,
            steps: 1000,
            per_host: 64,
            id: "5c3a-7".to_owned(),
            time: "2026/11/20 08:01:02".to_owned(),
            single: true,
        }
    }
}

/// Bytes of a border to the left and right, and above and below.
const BORDERS: [u64; 2] = [65_536, 24_000];

/// Values that one rank sums over all, once a step.
const VALUES: u64 = 2;

/// What is counted of a routine.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    calls: u64,
    ns: u64,
    longest: u64,
    count: Option<u64>,
    /// Messages and bytes
    sent: Option<(u64, u64)>,
    received: Option<(u64, u64)>,
    ranks: u64,
}

/// What a rank counted, or several.
#[derive(Clone, Debug, Default)]
struct Sums {
    ranks: u64,
    wall: u64,
    wall_max: u64,
    mpi: u64,
    mpi_max: u64,
    mpi_min: u64,
    use_max: u64,
    over: u64,
    rows: BTreeMap<&'static str, Row>,
    /// By name of the histogram, `s` or `r`, and bin
    sizes: BTreeMap<(&'static str, char, usize), u64>,
    waited: BTreeMap<&'static str, (u64, u64)>,
    /// Name, ranks; calls, ns, and traffic
    comms: BTreeMap<(&'static str, u32), [u64; 6]>,
}

fn sum(a: Option<(u64, u64)>, b: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0 + b.0, a.1 + b.1)),
        (a, b) => a.or(b),
    }
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.mpi_min =
            if self.ranks == 0 { other.mpi_min } else { self.mpi_min.min(other.mpi_min) };
        self.ranks += other.ranks;
        self.wall += other.wall;
        self.wall_max = self.wall_max.max(other.wall_max);
        self.mpi += other.mpi;
        self.mpi_max = self.mpi_max.max(other.mpi_max);
        self.use_max = self.use_max.max(other.use_max);
        self.over += other.over;
        for (name, row) in &other.rows {
            let to = self.rows.entry(name).or_default();
            to.calls += row.calls;
            to.ns += row.ns;
            to.longest = to.longest.max(row.longest);
            to.count = row.count.map(|count| to.count.unwrap_or(0) + count);
            to.sent = sum(to.sent, row.sent);
            to.received = sum(to.received, row.received);
            to.ranks += row.ranks;
        }
        for ((name, way, bin), count) in &other.sizes {
            let class = if name.starts_with('I') { "p2p" } else { "coll" };
            *self.sizes.entry((class, *way, *bin)).or_default() += count;
        }
        for (kind, (calls, ns)) in &other.waited {
            let to = self.waited.entry(kind).or_default();
            *to = (to.0 + calls, to.1 + ns);
        }
        for (of, numbers) in &other.comms {
            let to = self.comms.entry(*of).or_default();
            to.iter_mut().zip(numbers).for_each(|(to, more)| *to += more);
        }
    }
}

/// The bin of a size.
fn bin(bytes: u64) -> usize {
    (u64::BITS - bytes.leading_zeros()) as usize
}

fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Launch {
    /// Ranks in a row of the grid.
    fn width(&self) -> u32 {
        let fits = |width: &u32| self.ranks.is_multiple_of(*width) && width * width >= self.ranks;
        (1..=self.ranks).find(fits).unwrap_or(self.ranks)
    }

    /// Neighbours and the bytes of the border between.
    fn neighbours(&self, rank: u32) -> Vec<(u32, u64)> {
        let width = self.width();
        let (x, y) = (rank % width, rank / width);
        let mut found = Vec::new();
        if x > 0 {
            found.push((rank - 1, BORDERS[0]));
        }
        if x + 1 < width {
            found.push((rank + 1, BORDERS[0]));
        }
        if y > 0 {
            found.push((rank - width, BORDERS[1]));
        }
        if rank + width < self.ranks {
            found.push((rank + width, BORDERS[1]));
        }
        found
    }

    /// ns of a rank outside MPI: more in the middle, and a little noise without chance.
    fn busy(&self, rank: u32) -> u64 {
        let width = self.width();
        let place = |at: u32, of: u32| (f64::from(at) + 0.5) / f64::from(of.max(1)) - 0.5;
        let height = self.ranks.div_ceil(width);
        let (x, y) = (place(rank % width, width), place(rank / width, height));
        let near = 1.0 - (x * x + y * y) * 2.0;
        let noise = f64::from(rank.wrapping_mul(2_654_435_761) >> 20) / 4096.0;
        let step = 8_000_000.0 + 1_500_000.0 * near + 200_000.0 * noise;
        step as u64 * self.steps
    }

    /// What a rank counted, if `most` is the longest time of a rank outside MPI.
    fn rank(&self, rank: u32, most: u64) -> Sums {
        let busy = self.busy(rank);
        let wall = most + most / 15 + 30_000_000;
        let mpi = wall - busy;
        let neighbours = self.neighbours(rank);
        let (links, steps) = (neighbours.len() as u64, self.steps);
        let messages = links * steps;
        let bytes = neighbours.iter().map(|(_, bytes)| bytes * steps).sum::<u64>();
        let elements = bytes / 8;
        let values = VALUES * steps;
        let (small, large) = (links * 900 * steps, links * 2_100 * steps);
        let begun = 21_000_000 + u64::from(rank % 7) * 11_000;
        let broadcast = 2_300_000 - u64::from(rank == 0) * 2_100_000;
        let fixed = begun + broadcast + 9_000_000 + 1_200 + small + large;
        let waiting = mpi.saturating_sub(fixed) / 10 * 7;
        let reducing = mpi - fixed - waiting;
        let row = |calls, ns, longest| Row { calls, ns, longest, ranks: 1, ..Row::default() };
        let all = |n| Some((n, n * 8));
        let root = rank == 0;
        let mut rows = BTreeMap::new();
        rows.insert("Init", row(1, begun, begun));
        rows.insert("Comm_rank", row(2, 700, 500));
        rows.insert("Comm_size", row(1, 500, 500));
        rows.insert(
            "Bcast",
            Row {
                count: Some(512),
                sent: Some(if root { (1, 4096) } else { (0, 0) }),
                received: Some(if root { (0, 0) } else { (1, 4096) }),
                ..row(1, broadcast, broadcast)
            },
        );
        rows.insert(
            "Irecv",
            Row {
                count: Some(elements),
                received: Some((messages, bytes)),
                ..row(messages, small, 21_000)
            },
        );
        rows.insert(
            "Isend",
            Row {
                count: Some(elements),
                sent: Some((messages, bytes)),
                ..row(messages, large, 64_000)
            },
        );
        rows.insert(
            "Waitall",
            Row { count: Some(2 * messages), ..row(steps, waiting, waiting / steps.max(1) * 5) },
        );
        rows.insert(
            "Allreduce",
            Row {
                count: Some(values),
                sent: all(values).map(|(_, bytes)| (steps, bytes)),
                received: all(values).map(|(_, bytes)| (steps, bytes)),
                ..row(steps, reducing, reducing / steps.max(1) * 9)
            },
        );
        rows.insert("Finalize", row(1, 9_000_000, 9_000_000));
        let mut sizes = BTreeMap::new();
        for (_, bytes) in &neighbours {
            *sizes.entry(("Isend", 's', bin(*bytes))).or_default() += steps;
            *sizes.entry(("Irecv", 'r', bin(*bytes))).or_default() += steps;
        }
        sizes.insert(("Allreduce", 's', bin(8 * VALUES)), steps);
        sizes.insert(("Allreduce", 'r', bin(8 * VALUES)), steps);
        sizes.insert(("Bcast", if root { 's' } else { 'r' }, bin(4096)), 1);
        let waited = BTreeMap::from([("receive", (steps, waiting))]);
        let calls = 2 * messages + 1;
        let grid = [calls, small + large, messages, bytes, messages, bytes];
        let bytes = 8 * values;
        let world = [steps, reducing, steps, bytes, steps, bytes];
        let comms = BTreeMap::from([
            (("plane", self.ranks), grid),
            (("MPI_COMM_WORLD", self.ranks), world),
        ]);
        Sums {
            ranks: 1,
            wall,
            wall_max: wall,
            mpi,
            mpi_max: mpi,
            mpi_min: mpi,
            use_max: busy,
            over: (calls + 2 * steps) * 15,
            rows,
            sizes,
            waited,
            comms,
        }
    }

    /// The whole file: first the sum, then each rank.
    pub fn text(&self) -> String {
        let most = (0..self.ranks).map(|rank| self.busy(rank)).max().unwrap_or(0);
        let mut total = Sums::default();
        let mut single = String::new();
        for rank in 0..self.ranks {
            let sums = self.rank(rank, most);
            total.add(&sums);
            if self.single {
                self.record(&mut single, "rank", &sums, Some(rank));
            }
        }
        let mut out = String::new();
        self.record(&mut out, "run", &total, None);
        out + &single
    }

    fn record(&self, out: &mut String, of: &str, sums: &Sums, rank: Option<u32>) {
        let host = format!("node{:04}", rank.unwrap_or(0) / self.per_host);
        let mut tokens = vec![
            "t=1795161662".to_owned(),
            "uid=1004".to_owned(),
            "end=finalize".to_owned(),
            format!("host={host}"),
            "mpi=Open_MPI-5.0.8".to_owned(),
        ];
        tokens.extend(rank.map(|rank| format!("rank={rank} pid={}", 30_000 + rank)));
        tokens.push(format!("ranks={}", sums.ranks));
        for (name, ns) in [
            ("wall", sums.wall),
            ("wallmax", sums.wall_max),
            ("mpisum", sums.mpi),
            ("mpimax", sums.mpi_max),
            ("mpimin", sums.mpi_min),
            ("usemax", sums.use_max),
            ("over", sums.over),
        ] {
            tokens.push(format!("{name}={}", seconds(ns)));
        }
        tokens.extend(["thr=1", "lang=c", "level=single"].map(str::to_owned));
        for (name, row) in &sums.rows {
            let pair = |of: Option<(u64, u64)>| {
                of.map_or_else(|| ":".to_owned(), |(n, bytes)| format!("{n}:{bytes}"))
            };
            let count = row.count.map(|count| count.to_string()).unwrap_or_default();
            let ranks = if rank.is_some() { String::new() } else { row.ranks.to_string() };
            let text = format!(
                "f={name}:{}:{}:{}:{count}:{}:{}:{ranks}",
                row.calls,
                seconds(row.ns),
                seconds(row.longest),
                pair(row.sent),
                pair(row.received)
            );
            tokens.push(text.trim_end_matches(':').to_owned());
        }
        for (kind, (calls, ns)) in &sums.waited {
            tokens.push(format!("w={kind}:{calls}:{}", seconds(*ns)));
        }
        for ((name, way, bin), count) in &sums.sizes {
            tokens.push(format!("h={name}:{way}:{bin}={count}"));
        }
        for ((name, size), [calls, ns, numbers @ ..]) in &sums.comms {
            let numbers = numbers.map(|n| n.to_string()).join(":");
            tokens.push(format!("c={name}:{size}:{calls}:{}:{numbers}", seconds(*ns)));
        }
        if let Some(rank) = rank {
            for (peer, bytes) in self.neighbours(rank) {
                let (n, bytes) = (self.steps, bytes * self.steps);
                tokens.push(format!("p={peer}:{n}:{bytes}:{n}:{bytes}"));
            }
        } else {
            tokens.push("e=OMPI_MCA_btl=self,vader".to_owned());
        }
        self.lines(out, of, &tokens);
    }

    /// Tokens in lines shorter than 1,000 B.
    fn lines(&self, out: &mut String, of: &str, tokens: &[String]) {
        const ROOM: usize = 880;
        let mut parts: Vec<String> = vec![String::new()];
        for token in tokens {
            if parts.last().is_some_and(|part| part.len() + token.len() + 1 > ROOM) {
                parts.push(String::new());
            }
            if let Some(part) = parts.last_mut() {
                part.push(' ');
                *part += token;
            }
        }
        for (at, part) in parts.iter().enumerate() {
            let line = format!(
                "{} topas-mpi mohr heat2d {} {} v=1 of={of} line={}/{}{part} len=",
                self.time,
                self.ranks,
                self.id,
                at + 1,
                parts.len()
            );
            out.push_str(&line);
            out.push_str(&format!("{:03}\n", line.len() + 3));
        }
    }
}
