//! The functions of MPI that a calibration needs.

use std::path::Path;

use topas_mpi_table::abi::{ALL, Abi, Predefined};

use crate::sys::{Library, text_in};

/// Room for what a library says of itself, in B: `MPI_MAX_LIBRARY_VERSION_STRING` is less.
const VERSION_ROOM: usize = 1 << 16;

/// Room for the name of a node in B.
pub const NAME_ROOM: usize = 256;

/// Objects that the table of constants does not have: `MPI_DOUBLE`, `MPI_SUM`.
const REDUCTIONS: [(&str, Predefined, Predefined); 3] = [
    ("Open MPI", Predefined::Symbol("ompi_mpi_double"), Predefined::Symbol("ompi_mpi_op_sum")),
    ("MPICH", Predefined::Value(0x4c00_080b), Predefined::Value(0x5800_0003)),
    ("MPI standard ABI", Predefined::Value(0x214), Predefined::Value(0x21)),
];

/// An MPI of a family that is known.
pub struct OpenedMpi {
    library: Library,
    /// What it calls itself, with its version
    pub name: String,
    world: usize,
    byte: usize,
    double: usize,
    sum: usize,
    ignore: usize,
}

/// A request under way.
pub struct Request(Box<u64>);

impl OpenedMpi {
    /// Opens a library.
    ///
    /// # Errors
    ///
    /// Why it is none that can be used.
    pub fn open(path: &Path) -> Result<OpenedMpi, String> {
        let library = Library::open(path)?;
        let mut room = vec![0u8; VERSION_ROOM];
        let mut length = 0u32;
        let words = [room.as_mut_ptr() as usize, &raw mut length as usize];
        if library.call("MPI_Get_library_version", &words).is_none() {
            return Err("it has no MPI_Get_library_version, so it is no MPI-3".to_owned());
        }
        let says = text_in(&room);
        // Behind a comma are packages and dates.
        let name = says.lines().next().and_then(|line| line.split(',').next());
        let name = name.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let abi = ALL.iter().find(|abi| is_of(abi, &library, &says));
        let Some(abi) = abi else { return Err(format!("its constants are not known: {name}")) };
        let value = |predefined: Predefined| match predefined {
            Predefined::Value(value) => Some(value as usize),
            Predefined::Symbol(symbol) => library.symbol(symbol),
        };
        let reductions = REDUCTIONS.iter().find(|(family, ..)| *family == abi.name);
        let objects = reductions.and_then(|(_, double, sum)| {
            Some((value(abi.comm_world)?, value(abi.byte)?, value(*double)?, value(*sum)?))
        });
        let Some((world, byte, double, sum)) = objects else {
            return Err(format!("predefined objects are missing: {name}"));
        };
        let ignore = abi.status_ignore as usize;
        Ok(OpenedMpi { library, name, world, byte, double, sum, ignore })
    }

    /// Calls a function that every MPI has.
    fn call(&self, name: &str, words: &[usize]) {
        // Errors end the program: `MPI_ERRORS_ARE_FATAL` is in force.
        let result = self.library.call(name, words);
        assert!(result == Some(0), "{name} returned {result:?}");
    }

    /// `MPI_Init`
    pub fn init(&self) {
        self.call("MPI_Init", &[0, 0]);
    }

    /// `MPI_Finalize`
    pub fn finalize(&self) {
        self.call("MPI_Finalize", &[]);
    }

    fn of_world(&self, name: &str) -> u32 {
        let mut value = 0u32;
        self.call(name, &[self.world, &raw mut value as usize]);
        value
    }

    /// Rank in the world.
    pub fn rank(&self) -> u32 {
        self.of_world("MPI_Comm_rank")
    }

    /// Ranks of the world.
    pub fn ranks(&self) -> u32 {
        self.of_world("MPI_Comm_size")
    }

    /// Name of the node, in [`NAME_ROOM`] bytes.
    pub fn node(&self) -> Vec<u8> {
        let mut room = vec![0u8; VERSION_ROOM];
        let mut length = 0u32;
        let words = [room.as_mut_ptr() as usize, &raw mut length as usize];
        self.call("MPI_Get_processor_name", &words);
        room.truncate(NAME_ROOM);
        room
    }

    /// `MPI_Barrier`
    pub fn barrier(&self) {
        self.call("MPI_Barrier", &[self.world]);
    }

    /// A function with the arguments of `MPI_Send`.
    pub fn send(&self, function: &str, data: &[u8], to: u32) {
        let at = data.as_ptr() as usize;
        self.call(function, &[at, data.len(), self.byte, to as usize, 0, self.world]);
    }

    /// `MPI_Recv`
    pub fn receive(&self, room: &mut [u8], from: u32) {
        let at = room.as_mut_ptr() as usize;
        let words = [at, room.len(), self.byte, from as usize, 0, self.world, self.ignore];
        self.call("MPI_Recv", &words);
    }

    /// `MPI_Isend`; the data stay where they are until [`OpenedMpi::wait`].
    pub fn begin_send(&self, data: &[u8], to: u32) -> Request {
        let mut request = Box::new(0u64);
        let (at, handle) = (data.as_ptr() as usize, &raw mut *request as usize);
        let words = [at, data.len(), self.byte, to as usize, 0, self.world, handle];
        self.call("MPI_Isend", &words);
        Request(request)
    }

    /// `MPI_Irecv`; nobody looks at the room until [`OpenedMpi::wait`].
    pub fn begin_receive(&self, room: &mut [u8], from: u32) -> Request {
        let mut request = Box::new(0u64);
        let (at, handle) = (room.as_mut_ptr() as usize, &raw mut *request as usize);
        let words = [at, room.len(), self.byte, from as usize, 0, self.world, handle];
        self.call("MPI_Irecv", &words);
        Request(request)
    }

    /// `MPI_Wait`
    pub fn wait(&self, mut request: Request) {
        self.call("MPI_Wait", &[&raw mut *request.0 as usize, self.ignore]);
    }

    /// `MPI_Sendrecv` with one other rank.
    pub fn exchange(&self, data: &[u8], room: &mut [u8], with: u32) {
        let with = with as usize;
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        self.call(
            "MPI_Sendrecv",
            &[
                at,
                data.len(),
                self.byte,
                with,
                0,
                to,
                room.len(),
                self.byte,
                with,
                0,
                self.world,
                self.ignore,
            ],
        );
    }

    /// `MPI_Buffer_attach`
    pub fn attach(&self, room: &mut [u8]) {
        self.call("MPI_Buffer_attach", &[room.as_mut_ptr() as usize, room.len()]);
    }

    /// `MPI_Buffer_detach`
    pub fn detach(&self) {
        let (mut address, mut size) = (0usize, 0u32);
        self.call("MPI_Buffer_detach", &[&raw mut address as usize, &raw mut size as usize]);
    }

    /// `MPI_Bcast` from rank 0.
    pub fn broadcast(&self, data: &mut [u8]) {
        let at = data.as_mut_ptr() as usize;
        self.call("MPI_Bcast", &[at, data.len(), self.byte, 0, self.world]);
    }

    /// `MPI_Gather` to rank 0, which has room for all.
    pub fn gather(&self, data: &[u8], room: &mut [u8]) {
        self.rooted("MPI_Gather", data, room, data.len());
    }

    /// A function with the arguments of `MPI_Gather`, root 0, so many bytes a rank.
    pub fn rooted(&self, function: &str, data: &[u8], room: &mut [u8], bytes: usize) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        self.call(function, &[at, bytes, self.byte, to, bytes, self.byte, 0, self.world]);
    }

    /// A function with the arguments of `MPI_Allgather`, so many bytes a rank.
    pub fn all(&self, function: &str, data: &[u8], room: &mut [u8], bytes: usize) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        self.call(function, &[at, bytes, self.byte, to, bytes, self.byte, self.world]);
    }

    /// `MPI_Alltoallv` with equal parts.
    pub fn all_to_all_parts(&self, data: &[u8], room: &mut [u8], parts: &Parts) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        let (counts, places) = parts.words();
        self.call(
            "MPI_Alltoallv",
            &[at, counts, places, self.byte, to, counts, places, self.byte, self.world],
        );
    }

    /// `MPI_Allgatherv` with equal parts.
    pub fn all_gather_parts(&self, data: &[u8], room: &mut [u8], parts: &Parts) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        let (counts, places) = parts.words();
        let words = [at, parts.each(), self.byte, to, counts, places, self.byte, self.world];
        self.call("MPI_Allgatherv", &words);
    }

    /// `MPI_Gatherv` with equal parts, root 0.
    pub fn gather_parts(&self, data: &[u8], room: &mut [u8], parts: &Parts) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        let (counts, places) = parts.words();
        let words = [at, parts.each(), self.byte, to, counts, places, self.byte, 0, self.world];
        self.call("MPI_Gatherv", &words);
    }

    /// `MPI_Scatterv` with equal parts, root 0.
    pub fn scatter_parts(&self, data: &[u8], room: &mut [u8], parts: &Parts) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        let (counts, places) = parts.words();
        let words = [at, counts, places, self.byte, to, parts.each(), self.byte, 0, self.world];
        self.call("MPI_Scatterv", &words);
    }

    /// A function with the arguments of `MPI_Allreduce`: the sum of numbers.
    pub fn reduce(&self, function: &str, data: &[f64], room: &mut [f64]) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        self.call(function, &[at, to, data.len(), self.double, self.sum, self.world]);
    }

    /// `MPI_Reduce` to rank 0.
    pub fn reduce_to_root(&self, data: &[f64], room: &mut [f64]) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        self.call("MPI_Reduce", &[at, to, data.len(), self.double, self.sum, 0, self.world]);
    }

    /// `MPI_Reduce_scatter_block`: each rank gets so many numbers.
    pub fn reduce_scatter(&self, data: &[f64], room: &mut [f64], each: usize) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        let words = [at, to, each, self.double, self.sum, self.world];
        self.call("MPI_Reduce_scatter_block", &words);
    }

    /// `MPI_Reduce_scatter` with equal parts of numbers.
    pub fn reduce_scatter_parts(&self, data: &[f64], room: &mut [f64], parts: &Parts) {
        let (at, to) = (data.as_ptr() as usize, room.as_mut_ptr() as usize);
        let words = [at, to, parts.words().0, self.double, self.sum, self.world];
        self.call("MPI_Reduce_scatter", &words);
    }
}

/// Counts and displacements of equal parts.
pub struct Parts {
    counts: Vec<i32>,
    places: Vec<i32>,
}

impl Parts {
    /// So many elements for each rank.
    pub fn new(ranks: usize, each: usize) -> Parts {
        let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        Parts {
            counts: vec![number(each); ranks],
            places: (0..ranks).map(|rank| number(rank * each)).collect(),
        }
    }

    fn each(&self) -> usize {
        self.counts.first().map_or(0, |count| *count as usize)
    }

    fn words(&self) -> (usize, usize) {
        (self.counts.as_ptr() as usize, self.places.as_ptr() as usize)
    }
}

/// Whether a library is of a family.
fn is_of(abi: &Abi, library: &Library, says: &str) -> bool {
    let (mut major, mut minor) = (-1i32, -1i32);
    let words = [&raw mut major as usize, &raw mut minor as usize];
    let standard = library.call("MPI_Abi_get_version", &words) == Some(0) && major > 0;
    let word = abi.says.is_empty() || abi.says.iter().any(|word| says.contains(word));
    let symbol = match abi.comm_world {
        Predefined::Symbol(symbol) => library.symbol(symbol).is_some(),
        Predefined::Value(_) => true,
    };
    abi.standard == standard && word && symbol
}
