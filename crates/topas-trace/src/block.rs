//! A block: its head and the place of its events.

/// Bytes of a block.
pub const LENGTH: usize = 65_536;
/// Bytes of its head.
pub const HEAD: usize = 128;
/// Bytes behind the head.
pub const BODY: usize = LENGTH - HEAD;
/// First bytes of a block.
pub const MAGIC: [u8; 8] = *b"topastrc";
/// Version of the format.
pub const VERSION: u16 = 1;

/// Heads are written as they stand in memory.
const _: () = assert!(cfg!(target_endian = "little"), "blocks are little-endian");

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum BlockContent {
    /// Events of a thread
    Events = 1,
    /// What is known of a process: lines of text
    Facts = 2,
}

/// The head of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct BlockHead {
    /// [`MAGIC`]
    pub magic: [u8; 8],
    /// [`VERSION`]
    pub version: u16,
    /// A [`BlockContent`]
    pub content: u16,
    /// The rank in the world
    pub rank: u32,
    /// Bytes in use behind the head; in the upper half how many events these are. One word, which
    /// is stored behind each event: so both halves are of the same moment.
    pub filled: u64,
    /// What tells the process from all others, by a hash
    pub process: u64,
    /// The number of the thread in its process
    pub thread: u32,
    /// Times are written in units of 2 to the power of this, in ticks
    pub shift: u32,
    /// The number of the block among those of its thread, from 0
    pub number: u64,
    /// Events of the thread in all blocks before this one
    pub before: u64,
    /// The tick from which times count
    pub first: u64,
    /// The tick at which the last event ended; 0 while the block is written
    pub last: u64,
    /// [`checksum`] of the block; 0 while it is written
    pub check: u64,
    /// Zeros
    pub reserved: [u64; 6],
}

const _: () = assert!(size_of::<BlockHead>() == HEAD && size_of::<TraceBlock>() == LENGTH);

/// A block in memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TraceBlock {
    /// Its head
    pub head: BlockHead,
    /// What it holds
    pub body: [u8; BODY],
}

/// Why bytes are not the head of a block that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockHeadError {
    /// Other first bytes, or too few
    Foreign,
    /// A version that is not known
    Version(u16),
    /// What it says of itself cannot be
    Damaged,
}

impl BlockHead {
    /// An empty block.
    pub const fn new(content: BlockContent) -> BlockHead {
        BlockHead {
            magic: MAGIC,
            version: VERSION,
            content: content as u16,
            rank: 0,
            filled: 0,
            process: 0,
            thread: 0,
            shift: 0,
            number: 0,
            before: 0,
            first: 0,
            last: 0,
            check: 0,
            reserved: [0; 6],
        }
    }

    /// Bytes in use behind the head.
    pub const fn used(&self) -> u32 {
        self.filled as u32
    }

    /// How many events these are.
    pub const fn events(&self) -> u32 {
        (self.filled >> 32) as u32
    }

    /// The head that stands at the beginning of some bytes.
    ///
    /// # Errors
    ///
    /// [`BlockHeadError`]
    pub fn decode(bytes: &[u8]) -> Result<BlockHead, BlockHeadError> {
        let bytes: &[u8; HEAD] = bytes.first_chunk().ok_or(BlockHeadError::Foreign)?;
        let word = |place: usize| {
            let found = bytes.get(place * 8..).and_then(<[u8]>::first_chunk);
            found.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let kinds = word(1);
        let head = BlockHead {
            magic: word(0).to_le_bytes(),
            version: kinds as u16,
            content: (kinds >> 16) as u16,
            rank: (kinds >> 32) as u32,
            filled: word(2),
            process: word(3),
            thread: word(4) as u32,
            shift: (word(4) >> 32) as u32,
            number: word(5),
            before: word(6),
            first: word(7),
            last: word(8),
            check: word(9),
            reserved: [word(10), word(11), word(12), word(13), word(14), word(15)],
        };
        if head.magic != MAGIC {
            return Err(BlockHeadError::Foreign);
        }
        if head.version != VERSION {
            return Err(BlockHeadError::Version(head.version));
        }
        let known = head.content == BlockContent::Events as u16
            || head.content == BlockContent::Facts as u16;
        // An event takes more than 3 B.
        if !known || head.used() as usize > BODY || head.shift > 16 || head.events() > head.used() {
            return Err(BlockHeadError::Damaged);
        }
        Ok(head)
    }

    /// The head as it stands in a file.
    pub fn encode(&self) -> [u8; HEAD] {
        let [a, b, c, d, e, f] = self.reserved;
        let kinds =
            u64::from(self.version) | u64::from(self.content) << 16 | u64::from(self.rank) << 32;
        let thread = u64::from(self.thread) | u64::from(self.shift) << 32;
        let words = [
            u64::from_le_bytes(self.magic),
            kinds,
            self.filled,
            self.process,
            thread,
            self.number,
            self.before,
            self.first,
            self.last,
            self.check,
            a,
            b,
            c,
            d,
            e,
            f,
        ];
        let mut bytes = [0; HEAD];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// What [`BlockHead::check`] is of a block with this head and with these bytes in use behind it:
/// never 0.
pub fn checksum(head: &BlockHead, used: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let head = BlockHead { check: 0, ..*head }.encode();
    let mut sum = 0;
    for part in [&head[..], used] {
        let (words, rest) = part.as_chunks::<8>();
        sum = words.iter().fold(sum, |sum, word| add(sum, u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        for (place, byte) in last.iter_mut().zip(rest) {
            *place = *byte;
        }
        sum = add(sum, u64::from_le_bytes(last));
    }
    sum | 1
}

impl TraceBlock {
    /// The bytes in use behind the head.
    pub fn in_use(&self) -> &[u8] {
        self.body.get(..self.head.used() as usize).unwrap_or_default()
    }

    /// Makes the block complete: from now on its sum is known, and it does not change.
    pub fn close(&mut self, rank: u32, last: u64) {
        self.head.rank = rank;
        self.head.last = last;
        self.head.check = checksum(&self.head, self.in_use());
    }
}
