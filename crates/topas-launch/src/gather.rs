//! What ranks of a host must agree on to write `topas.out` together, whether the module of one
//! does it or `topas-run`. How it goes is told in the module's `gather`.

/// The file where all ranks are known to be on one host.
pub const ONE_HOST: &[u8] = b"topas.out";

/// The file where they may not be, a pattern.
pub const SEVERAL_HOSTS: &[u8] = b"topas.out.%h";

/// Beginning of the abstract name of the socket; 16 hexadecimal digits of launch and file follow.
pub const SOCKET: &[u8] = b"topas.out.";

/// Bytes of a batch.
pub const BATCH: usize = 64 << 10;

/// How many ranks may wait to be taken; the kernel allows 4096, or 128 before Linux 5.4.
pub const QUEUE: usize = 4096;

/// How often a rank looks for the writer, a millisecond apart, while there is none that takes
/// it: the queue is full, or the writer just leaves.
pub const ATTEMPTS: u32 = 2000;

/// Milliseconds to wait for the answer of a writer that lives: a file system may be slow.
pub const PATIENCE: u16 = 30_000;

/// Milliseconds in all that the writer waits for ranks that have come and say nothing. They have
/// lost the processor between two calls, as it would by waiting longer: with thousands of
/// processes to a core that takes seconds.
pub const SILENCE: u32 = 8;
