//! How many bytes a flow moves.

use topas_mpi_table::{FlowAmount, Span};

use crate::flow::datatype;
use crate::flow::ledger::Ledger;
use crate::flow::library::{self, Library};
use crate::flow::plan::Place;

/// Words of a call.
pub type CallWords = [usize; crate::frame::WORDS];

/// What is known of the processes among which a flow is.
#[derive(Clone, Copy, Default)]
pub struct Among {
    /// At the other end
    pub ranks: u32,
    /// In the own group
    pub local: u32,
    /// Own rank
    pub rank: u32,
    /// Neighbours data come from
    pub sources: u32,
    /// Neighbours data go to
    pub destinations: u32,
    /// Neighbours that are `MPI_PROC_NULL`, a bit for each
    pub null: u64,
}

impl Among {
    /// Whether there is no neighbour to which data go.
    pub fn goes_nowhere(&self) -> bool {
        self.destinations == self.null.count_ones()
    }

    /// How many, and which of them are nobody.
    fn over(&self, span: Span) -> (u32, u64) {
        match span {
            Span::Ranks => (self.ranks, 0),
            Span::Local => (self.local, 0),
            Span::Sources => (self.sources, self.null),
            Span::Destinations => (self.destinations, self.null),
        }
    }
}

/// An argument.
#[inline(always)]
pub fn word(args: &CallWords, place: Place) -> usize {
    *crate::element::element(args, usize::from(place))
}

/// An `int`, in the variant for large counts an `MPI_Count`.
#[inline(always)]
fn integer(args: &CallWords, place: Place, large: bool) -> i64 {
    let word = word(args, place);
    if large { word as i64 } else { i64::from(word as i32) }
}

/// A count. What is negative counts nothing.
#[inline(always)]
pub fn count(args: &CallWords, place: Place, large: bool) -> u64 {
    integer(args, place, large).max(0) as u64
}

/// An element of an array of counts.
///
/// # Safety
/// The array is there, and long enough.
#[inline(always)]
unsafe fn element(array: usize, place: usize, large: bool) -> u64 {
    // SAFETY: by the caller.
    let count = unsafe {
        if large {
            *(array as *const i64).add(place)
        } else {
            i64::from(*(array as *const i32).add(place))
        }
    };
    count.max(0) as u64
}

/// How many bytes an amount is. `others` leaves the own block out.
///
/// # Safety
/// The arguments are those of a call that the MPI has accepted, and this flow takes place.
#[inline(always)]
pub unsafe fn bytes(
    library: &Library,
    ledger: &mut Ledger,
    among: &Among,
    amount: &FlowAmount<Place>,
    args: &CallWords,
    large: bool,
    others: bool,
) -> u64 {
    if let FlowAmount::Block { count, datatype } = *amount {
        return block(library, ledger, args, count, datatype, large);
    }
    // SAFETY: by the caller.
    unsafe { more(library, ledger, among, amount, args, large, others) }
}

/// How many bytes one block is.
#[inline(always)]
pub fn block(
    library: &Library,
    ledger: &mut Ledger,
    args: &CallWords,
    count: Place,
    datatype: Place,
    large: bool,
) -> u64 {
    let elements = integer(args, count, large);
    if elements <= 0 {
        return 0;
    }
    (elements as u64).wrapping_mul(datatype::size(library, ledger, word(args, datatype)))
}

/// Elements of a datatype, in B. The datatype of no elements may be anything.
#[inline(always)]
fn times(library: &Library, ledger: &mut Ledger, elements: u64, datatype: usize) -> u64 {
    if elements == 0 {
        return 0;
    }
    elements.wrapping_mul(datatype::size(library, ledger, datatype))
}

#[inline(never)]
unsafe fn more(
    library: &Library,
    ledger: &mut Ledger,
    among: &Among,
    amount: &FlowAmount<Place>,
    args: &CallWords,
    large: bool,
    others: bool,
) -> u64 {
    let own = if others { among.rank as usize } else { usize::MAX };
    let blocks = |span: Span| {
        let (all, null) = among.over(span);
        (0..all as usize).filter(move |i| *i != own && !(*i < 64 && null >> *i & 1 == 1))
    };
    let (elements, datatype) = match *amount {
        FlowAmount::Block { count: elements, datatype } => (count(args, elements, large), datatype),
        FlowAmount::Element { datatype } => (1, datatype),
        FlowAmount::Each { of, count: elements, datatype } => {
            let (all, null) = among.over(of);
            let blocks = u64::from(all) - u64::from(null.count_ones()) - u64::from(others);
            (blocks * count(args, elements, large), datatype)
        }
        FlowAmount::Partitions { partitions, count: elements, datatype } => {
            // The count of these is an MPI_Count always.
            let partitions = count(args, partitions, false);
            (partitions.wrapping_mul(count(args, elements, true)), datatype)
        }
        FlowAmount::Sum { of, counts, datatype } => {
            let array = word(args, counts);
            // SAFETY: the array has an element for each.
            let elements = blocks(of).map(|i| unsafe { element(array, i, large) });
            (elements.fold(0, u64::wrapping_add), datatype)
        }
        // SAFETY: the array has an element for the own rank.
        FlowAmount::Own { counts, datatype } => unsafe {
            (element(word(args, counts), among.rank as usize, large), datatype)
        },
        FlowAmount::TypedSum { of, counts, datatypes } => {
            let (counts, datatypes) = (word(args, counts), word(args, datatypes));
            return blocks(of)
                .map(|i| {
                    // SAFETY: both arrays have an element for each.
                    let (elements, datatype) = unsafe {
                        (element(counts, i, large), library::handle_at(library, datatypes, i))
                    };
                    times(library, ledger, elements, datatype as usize)
                })
                .fold(0, u64::wrapping_add);
        }
    };
    times(library, ledger, elements, word(args, datatype))
}
