//! The table of communicators, windows and files: names, sizes, and which of them look alike.
//!
//! It is kept for the process if communicators are to be counted. What is done here is done when one
//! of them is made, named, freed, or met by a thread for the first time, under one lock.

use core::cell::UnsafeCell;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use topas_mpi_profile::layout::object_kind::INTER;
use topas_mpi_profile::layout::{COMMUNICATORS, Communicator, flag};

use crate::element::{element, element_mut};
use crate::flow::ledger;
use crate::flow::library::Library;
use crate::spool;

/// All that have no row of their own.
pub const OTHERS: u16 = COMMUNICATORS as u16 - 1;
/// Rows of `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
const WORLD: u16 = 0;
const SELF: u16 = 1;

/// Handles that are remembered.
const HANDLES: usize = 1024;

#[derive(Clone, Copy)]
struct Handle {
    /// 0 if nothing is here
    handle: u64,
    row: u16,
    /// Function that made it, plus 1
    maker: u16,
    counted: bool,
}

const NO_HANDLE: Handle = Handle { handle: 0, row: OTHERS, maker: 0, counted: false };

struct Handles {
    locked: AtomicBool,
    handles: UnsafeCell<[Handle; HANDLES]>,
}

// SAFETY: looked at and changed under the lock only.
unsafe impl Sync for Handles {}

static ALL: Handles =
    Handles { locked: AtomicBool::new(false), handles: UnsafeCell::new([NO_HANDLE; HANDLES]) };

/// Does something with the handles and the rows; None if communicators are not counted.
fn with<T>(f: impl FnOnce(&mut [Handle; HANDLES], &mut [Communicator]) -> T) -> Option<T> {
    if !is_on() {
        return None;
    }
    let rows = spool::communicators()?;
    while ALL.locked.swap(true, Acquire) {
        core::hint::spin_loop();
    }
    // SAFETY: under the lock.
    let result = f(unsafe { &mut *ALL.handles.get() }, rows);
    ALL.locked.store(false, Release);
    Some(result)
}

/// Whether communicators are to be counted.
pub fn is_on() -> bool {
    spool::header().is_some_and(|header| header.flags & flag::COMMUNICATORS != 0)
}

/// The place of a handle, or where it could go; None if there is no room.
fn find(handles: &[Handle; HANDLES], handle: u64) -> Option<usize> {
    let first = (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
    (0..HANDLES)
        .map(|i| (first + i) % HANDLES)
        .find(|place| [handle, 0].contains(&element(handles, *place).handle))
}

/// The row of a communicator, window or file of this size and kind: one of
/// [`object_kind`](topas_mpi_profile::layout::object_kind).
pub fn index(library: &Library, handle: u64, size: u32, kind: u16) -> u16 {
    with(|handles, rows| {
        if handle == library.comm_world || handle == library.comm_self {
            let (row, name): (u16, &[u8]) = if handle == library.comm_world {
                (WORLD, b"MPI_COMM_WORLD")
            } else {
                (SELF, b"MPI_COMM_SELF")
            };
            if let Some(own) = rows.get_mut(usize::from(row)).filter(|own| own.made == 0) {
                own.name.iter_mut().zip(name).for_each(|(to, byte)| *to = *byte);
                own.size = size;
                own.made = 1;
            }
            return row;
        }
        let Some(place) = find(handles, handle) else { return OTHERS };
        let known = element_mut(handles, place);
        if known.handle == 0 {
            *known = Handle { handle, ..NO_HANDLE };
        }
        if !known.counted {
            known.counted = true;
            let new = Communicator { name: [0; 48], size, maker: known.maker, kind, made: 0 };
            known.row = row_of(rows, &new);
            add(rows, known.row);
        }
        known.row
    })
    .unwrap_or(0)
}

/// One more of this row.
fn add(rows: &mut [Communicator], row: u16) {
    if let Some(row) = rows.get_mut(usize::from(row)) {
        row.made += 1;
    }
}

/// The row of all that look like this one.
fn row_of(rows: &mut [Communicator], new: &Communicator) -> u16 {
    let named = new.name[0] != 0;
    let alike = |row: &Communicator| {
        if named {
            // Communicators of one name may be of both kinds.
            row.name == new.name && row.kind.max(INTER) == new.kind.max(INTER)
        } else {
            row.name[0] == 0 && (row.maker, row.size, row.kind) == (new.maker, new.size, new.kind)
        }
    };
    // The others end the table.
    let own = usize::from(SELF) + 1..usize::from(OTHERS);
    let free = |row: &Communicator| row.made == 0 && row.size == 0;
    for (i, row) in rows.iter_mut().enumerate().take(own.end).skip(own.start) {
        if free(row) {
            *row = *new;
            return i as u16;
        }
        if alike(row) {
            return i as u16;
        }
    }
    OTHERS
}

/// A function made a communicator, window or file.
pub fn made(handle: u64, function: u16) {
    ledger::forget(handle);
    with(|handles, _| {
        if let Some(place) = find(handles, handle) {
            *element_mut(handles, place) = Handle { handle, maker: function + 1, ..NO_HANDLE };
        }
    });
}

/// A communicator, window or file gets a name, a text that ends with a NUL.
///
/// # Safety
/// The text is there.
pub unsafe fn named(library: &Library, handle: u64, name: *const u8, size: u32, kind: u16) {
    let mut text = [0u8; 48];
    for (i, to) in text.iter_mut().enumerate() {
        // SAFETY: not behind its NUL.
        *to = unsafe { *name.add(i) };
        if *to == 0 {
            break;
        }
    }
    let old = index(library, handle, size, kind);
    with(|handles, rows| {
        if old <= SELF {
            // There is one of these, whatever it is called.
            if text[0] != 0
                && let Some(row) = rows.get_mut(usize::from(old))
            {
                row.name = text;
            }
            return;
        }
        let Some(place) = find(handles, handle) else { return };
        let known = element_mut(handles, place);
        if known.handle == 0 {
            return;
        }
        if let Some(row) = rows.get_mut(usize::from(old)) {
            row.made = row.made.saturating_sub(1);
        }
        let maker = known.maker;
        let new = Communicator { name: text, size, maker, kind, made: 0 };
        known.row = row_of(rows, &new);
        add(rows, known.row);
    });
    ledger::forget(handle);
}

/// The last part of a path, which ends with a NUL.
///
/// # Safety
/// The text is there.
pub unsafe fn last_part(path: *const u8) -> *const u8 {
    let (mut last, mut at) = (path, path);
    // SAFETY: not behind its NUL.
    unsafe {
        while *at != 0 {
            at = at.add(1);
            if *at.sub(1) == b'/' && *at != 0 {
                last = at;
            }
        }
    }
    last
}

/// A communicator, window or file goes.
pub fn gone(handle: u64) {
    with(|handles, _| remove(handles, handle));
}

/// Takes a handle out, and moves up those behind it that could not have their place.
fn remove(handles: &mut [Handle; HANDLES], handle: u64) {
    let Some(mut hole) = find(handles, handle) else { return };
    if element(handles, hole).handle == 0 {
        return;
    }
    *element_mut(handles, hole) = NO_HANDLE;
    let mut next = (hole + 1) % HANDLES;
    while element(handles, next).handle != 0 {
        let moved = core::mem::replace(element_mut(handles, next), NO_HANDLE);
        if let Some(place) = find(handles, moved.handle) {
            *element_mut(handles, place) = moved;
            hole = place;
        }
        next = (next + 1) % HANDLES;
        if next == hole {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_mpi_profile::layout::object_kind::{COMM, FILE, WINDOW};

    #[test]
    fn what_is_removed_leaves_no_gap() {
        let mut handles = Box::new([NO_HANDLE; HANDLES]);
        let all: Vec<u64> = (1..900).map(|n| 0x8400_0000 + n * 7).collect();
        for handle in &all {
            let place = find(&handles, *handle).expect("room");
            handles[place] = Handle { handle: *handle, row: (*handle % 200) as u16, ..NO_HANDLE };
        }
        for handle in all.iter().step_by(2) {
            remove(&mut handles, *handle);
        }
        for (i, handle) in all.iter().enumerate() {
            let found = find(&handles, *handle).map(|place| handles[place].handle);
            assert_eq!(found, Some(if i % 2 == 0 { 0 } else { *handle }));
        }
    }

    #[test]
    fn those_that_look_alike_share_a_row() {
        let none = Communicator { name: [0; 48], size: 0, maker: 0, kind: COMM, made: 0 };
        let mut rows = vec![none; COMMUNICATORS];
        let mut put_as = |kind, name: &[u8], size, maker| {
            let mut new = Communicator { size, maker, kind, ..none };
            new.name[..name.len()].copy_from_slice(name);
            let row = row_of(&mut rows, &new);
            rows[usize::from(row)].made += 1;
            row
        };
        assert_eq!(put_as(COMM, b"", 4, 9), 2);
        assert_eq!(put_as(COMM, b"", 4, 9), 2);
        assert_eq!(put_as(COMM, b"", 2, 9), 3);
        assert_eq!(put_as(COMM, b"rows", 4, 9), 4);
        assert_eq!(put_as(INTER, b"rows", 2, 8), 4);
        assert_eq!(put_as(FILE, b"rows", 4, 9), 5);
        assert_eq!(put_as(WINDOW, b"", 4, 9), 6);
        for size in 10..400 {
            put_as(COMM, b"", size, 9);
        }
        assert_eq!(put_as(COMM, b"", 1_000, 9), OTHERS);
    }

    #[test]
    fn a_file_is_called_by_the_last_part_of_its_path() {
        let last = |path: &'static core::ffi::CStr| {
            // SAFETY: a text that ends with a NUL, and a part of it.
            unsafe { core::ffi::CStr::from_ptr(last_part(path.as_ptr().cast()).cast()) }
        };
        assert_eq!(last(c"/scratch/x/restart.h5"), c"restart.h5");
        assert_eq!(last(c"restart.h5"), c"restart.h5");
        assert_eq!(last(c"ufs:/scratch/out"), c"out");
        assert_eq!(last(c"dir/"), c"dir/");
        assert_eq!(last(c""), c"");
    }
}
