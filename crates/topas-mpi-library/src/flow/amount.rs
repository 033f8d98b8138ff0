//! How many bytes a flow moves.

use topas_mpi_table::Span;

use crate::flow::datatype;
use crate::flow::ledger::Ledger;
use crate::flow::library::{self, Library};
use crate::flow::plan::{Amount, Form};

/// Words of a call.
pub type Words = [usize; crate::entry::WORDS];

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
pub fn word(args: &Words, place: u8) -> usize {
    *crate::element::element(args, usize::from(place))
}

/// An `int`, in the variant for large counts an `MPI_Count`. What is negative counts nothing.
#[inline(always)]
fn count(args: &Words, place: u8, large: bool) -> u64 {
    let word = word(args, place);
    let count = if large { word as i64 } else { i64::from(word as i32) };
    count.max(0) as u64
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
    amount: &Amount,
    args: &Words,
    large: bool,
    others: bool,
) -> u64 {
    if amount.form == Form::Block {
        let elements = count(args, amount.count, large);
        return times(library, ledger, elements, word(args, amount.datatype));
    }
    // SAFETY: by the caller.
    unsafe { more(library, ledger, among, amount, args, large, others) }
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
    amount: &Amount,
    args: &Words,
    large: bool,
    others: bool,
) -> u64 {
    let (all, null) = among.over(amount.of);
    let array = word(args, amount.count);
    let datatype = word(args, amount.datatype);
    let own = if others { among.rank as usize } else { usize::MAX };
    let moves = |i: &usize| *i != own && !(*i < 64 && null >> *i & 1 == 1);
    let elements = match amount.form {
        Form::Block => count(args, amount.count, large),
        Form::Element => 1,
        Form::Each => {
            let blocks = u64::from(all) - u64::from(null.count_ones()) - u64::from(others);
            blocks * count(args, amount.count, large)
        }
        Form::Partitions => {
            // The count of these is an MPI_Count always.
            let partitions = count(args, amount.partitions, false);
            partitions.wrapping_mul(count(args, amount.count, true))
        }
        // SAFETY: the array has an element for each.
        Form::Sum => (0..all as usize)
            .filter(moves)
            .map(|i| unsafe { element(array, i, large) })
            .fold(0, u64::wrapping_add),
        // SAFETY: the array has an element for the own rank.
        Form::Own => unsafe { element(array, among.rank as usize, large) },
        Form::Typed => {
            return (0..all as usize)
                .filter(moves)
                .map(|i| {
                    // SAFETY: both arrays have an element for each.
                    let (elements, datatype) = unsafe {
                        (element(array, i, large), library::handle_at(library, datatype, i))
                    };
                    times(library, ledger, elements, datatype as usize)
                })
                .fold(0, u64::wrapping_add);
        }
    };
    times(library, ledger, elements, datatype)
}
