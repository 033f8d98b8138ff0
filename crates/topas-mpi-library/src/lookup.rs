//! Names look absent where they are absent.
//!
//! The library defines every function of MPI, and the MPI below has some of them. Whoever asks the
//! loader for a name (`dlsym`, a weak reference), and calls what is there, must get the answer of a
//! process without the library. So names that no other object defines are taken out of the
//! library's own table, by a bit of their hashes: a loader does not look at a symbol whose hash
//! differs from that of the name, and hashes lie on the fewest pages. Weak
//! references that were filled in before are emptied. While something is being loaded all names are
//! there, because what comes may bring an MPI.
//!
//! `dlopen` tells when something comes. `dlsym` of a handle finds the function of the MPI itself:
//! what is given is the name here, with that function below, so that those calls are counted, too.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::objects::{self, LoadedObject, Loads};
use crate::{below, sys};

/// Most names that the library defines.
const NAMES: usize = 4096;

/// What is known of a name, by its place among the library's own.
static KNOWN: [AtomicU8; NAMES] = [const { AtomicU8::new(0) }; NAMES];
/// Another object defines the name.
const PRESENT: u8 = 1;
/// The lowest bit of its hash, which the table does not have.
const LOWEST: u8 = 2;
/// The bit of its hash that is another in the table while the name is hidden.
const HIGHEST: u8 = 4;
/// What was loaded when this was found out; none yet where no objects were counted.
static ADDS: AtomicU64 = AtomicU64::new(0);
static SUBS: AtomicU64 = AtomicU64::new(0);
static OBJECTS: AtomicUsize = AtomicUsize::new(0);
/// All names are there, whatever was found out.
static REVEALED: AtomicBool = AtomicBool::new(true);
/// Some thread changes this.
static BUSY: AtomicBool = AtomicBool::new(false);
/// The hashes in the table can be written.
static WRITABLE: AtomicBool = AtomicBool::new(false);
/// A library says where those are looked for that others need: it matters who loads.
static RPATHS: AtomicBool = AtomicBool::new(false);

/// What to jump to; 0 if the value is the answer.
#[repr(C)]
pub struct LoaderAnswer {
    target: usize,
    value: usize,
}

impl LoaderAnswer {
    const fn jump(target: usize) -> LoaderAnswer {
        LoaderAnswer { target, value: 0 }
    }

    const fn value(value: usize) -> LoaderAnswer {
        LoaderAnswer { target: 0, value }
    }
}

/// Whether a name may be that of a function of MPI.
fn is_of_mpi(name: &[u8]) -> bool {
    name.starts_with(b"MPI_") || name.starts_with(b"PMPI_") || name.starts_with(b"mpi_")
}

/// Calls a function with the library itself.
fn with_own<T>(f: impl FnOnce(&LoadedObject) -> T) -> Option<T> {
    let (mut f, mut result) = (Some(f), None);
    objects::each(|object| {
        let own = object.holds(is_of_mpi as *const () as usize);
        if own && let Some(f) = f.take() {
            result = Some(f(object));
        }
        own
    });
    result
}

/// A function of the loader: the first behind this library. The name ends with a NUL.
pub fn of_loader(kept: &AtomicUsize, name: &[u8]) -> usize {
    let known = kept.load(Relaxed);
    if known != 0 {
        return known;
    }
    let name = name.strip_suffix(b"\0").unwrap_or(name);
    let (hash, mut behind, mut found) = (objects::hash(name), false, 0);
    objects::each(|object| {
        if !behind {
            behind = object.holds(is_of_mpi as *const () as usize);
        } else if let Some(number) = object.find(name, hash) {
            found = object.address(number);
        }
        found != 0
    });
    kept.store(found, Relaxed);
    found
}

/// Brings the names up to date with what is loaded.
pub fn update() {
    let loads = objects::loads();
    let known = Loads { adds: ADDS.load(Relaxed), subs: SUBS.load(Relaxed) };
    let is_new = loads != known || OBJECTS.load(Relaxed) == 0;
    if !is_new && !REVEALED.load(Relaxed) || BUSY.swap(true, Acquire) {
        return;
    }
    with_own(|own| {
        if is_new {
            look(own, known.subs != loads.subs);
        }
        show(own, |known| known & PRESENT != 0);
    });
    REVEALED.store(false, Relaxed);
    BUSY.store(false, Release);
}

/// Looks which names the objects define that came since; from the beginning if some went.
fn look(own: &LoadedObject, again: bool) {
    let names = own.defined();
    if again || OBJECTS.load(Relaxed) == 0 {
        OBJECTS.store(0, Relaxed);
        for (number, known) in names.clone().zip(&KNOWN) {
            known.store(ends_of_hash(objects::hash(own.name(number))), Relaxed);
        }
    }
    let seen = OBJECTS.load(Relaxed);
    let is_own = |object: &LoadedObject| object.holds(is_of_mpi as *const () as usize);
    let mut count = 0;
    let loads = objects::each(|object| {
        count += 1;
        if count <= seen || is_own(object) {
            return false;
        }
        for (number, known) in names.clone().zip(&KNOWN) {
            let bits = known.load(Relaxed);
            // SAFETY: the library's own table, whose form it is linked with.
            let hash = unsafe { own.chained_hash(number).read_volatile() };
            if bits & PRESENT == 0 && object.find(own.name(number), whole(hash, bits)).is_some() {
                known.store(bits | PRESENT, Relaxed);
            }
        }
        if count > 1 && object.has_rpath {
            RPATHS.store(true, Relaxed);
        }
        false
    });
    let mut at = 0;
    objects::each(|object| {
        at += 1;
        if at > seen && !is_own(object) {
            empty(own, object);
        }
        false
    });
    OBJECTS.store(count, Relaxed);
    ADDS.store(loads.adds, Relaxed);
    SUBS.store(loads.subs, Relaxed);
}

/// Whether another object defines what is at this address of the library.
fn is_present(own: &LoadedObject, name: &[u8]) -> bool {
    let found = own.find(name, objects::hash(name));
    let known = found.and_then(|number| known(own, number));
    known.is_none_or(|known| known & PRESENT != 0)
}

/// What is known of the name of a symbol that the library defines.
fn known(own: &LoadedObject, number: usize) -> Option<u8> {
    let place = number.checked_sub(own.defined().start)?;
    Some(KNOWN.get(place)?.load(Relaxed))
}

/// [`LOWEST`] and [`HIGHEST`] of a hash.
fn ends_of_hash(hash: u32) -> u8 {
    let bit = |is_set: bool, bit| if is_set { bit } else { 0 };
    bit(hash & objects::LAST != 0, LOWEST) | bit(hash & objects::HIDES != 0, HIGHEST)
}

/// A hash with its own ends in place of those that it has in the table.
fn whole(hash: u32, known: u8) -> u32 {
    let bit = |bit, is: u32| if known & bit != 0 { is } else { 0 };
    hash & !(objects::LAST | objects::HIDES)
        | bit(LOWEST, objects::LAST)
        | bit(HIGHEST, objects::HIDES)
}

/// Empties weak references of an object that were filled in by names which nobody else defines.
fn empty(own: &LoadedObject, object: &LoadedObject) {
    let is_absent = |name: &[u8]| is_of_mpi(name) && !is_present(own, name);
    object.weak_references(is_absent, |_, place, added| {
        // SAFETY: a place that the loader has filled in.
        let value = unsafe { place.read_volatile() };
        if !own.holds(value) {
            return;
        }
        let locked = object.is_read_only(place);
        if locked && !sys::protect(place as usize, size_of::<usize>(), true) {
            return;
        }
        // SAFETY: it can be written now.
        unsafe { place.write_volatile(added as usize) };
        if locked {
            sys::protect(place as usize, size_of::<usize>(), false);
        }
    });
}

/// Shows the names of which that is wanted, and hides the others.
fn show(own: &LoadedObject, wanted: impl Fn(u8) -> bool) {
    let names = own.defined();
    for (number, known) in names.clone().zip(&KNOWN) {
        let known = known.load(Relaxed);
        let new = of_table(own, number, known, wanted(known));
        let at = own.chained_hash(number);
        // SAFETY: an entry of the table.
        if unsafe { at.read_volatile() } == new || !is_of_mpi(own.name(number)) {
            continue;
        }
        if !WRITABLE.load(Relaxed) {
            let begin = own.chained_hash(names.start) as usize;
            let end = own.chained_hash(names.end) as usize;
            if !sys::protect(begin, end.wrapping_sub(begin), true) {
                return;
            }
            WRITABLE.store(true, Relaxed);
        }
        // SAFETY: it can be written; a loader sees it as it was or as it is.
        unsafe { at.write_volatile(new) };
    }
}

/// The hash of a name that is shown or hidden, as the table has it.
fn of_table(own: &LoadedObject, number: usize, known: u8, is_shown: bool) -> u32 {
    // SAFETY: an entry of the table.
    let hash = unsafe { own.chained_hash(number).read_volatile() };
    let hides = if (known & HIGHEST != 0) == is_shown { objects::HIDES } else { 0 };
    hash & !objects::HIDES | hides
}

/// Hides one name. The hashes can be written.
fn hide(own: &LoadedObject, number: usize) {
    if let Some(known) = known(own, number) {
        let new = of_table(own, number, known, false);
        // SAFETY: an entry of the table.
        unsafe { own.chained_hash(number).write_volatile(new) };
    }
}

/// All names are there: something is about to be loaded.
fn reveal() {
    if !REVEALED.swap(true, Relaxed) && !BUSY.swap(true, Acquire) {
        with_own(|own| show(own, |_| true));
        BUSY.store(false, Release);
    }
}

static DLSYM: AtomicUsize = AtomicUsize::new(0);
static DLVSYM: AtomicUsize = AtomicUsize::new(0);
static DLOPEN: AtomicUsize = AtomicUsize::new(0);

/// The loader's function of this name.
pub fn dlsym() -> usize {
    of_loader(&DLSYM, b"dlsym\0")
}

/// The loader's function of this name.
pub fn dlopen() -> usize {
    of_loader(&DLOPEN, b"dlopen\0")
}

/// At `dlsym(handle, name)`.
///
/// # Safety
/// A name with a NUL.
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_asks(
    handle: usize,
    name: *const c_char,
    caller: usize,
) -> LoaderAnswer {
    let real = dlsym();
    // SAFETY: the caller's promise.
    unsafe { answer(handle, name, caller, core::ptr::null(), real) }
}

/// At `dlvsym(handle, name, version)`.
///
/// # Safety
/// A name and a version with their NULs.
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_asks_version(
    handle: usize,
    name: *const c_char,
    caller: usize,
    version: *const c_char,
) -> LoaderAnswer {
    let real = of_loader(&DLVSYM, b"dlvsym\0");
    // SAFETY: the caller's promise.
    unsafe { answer(handle, name, caller, version, real) }
}

/// # Safety
/// A name with a NUL, a version with one or null, the loader's function.
unsafe fn answer(
    handle: usize,
    name: *const c_char,
    caller: usize,
    version: *const c_char,
    real: usize,
) -> LoaderAnswer {
    const DEFAULT: usize = 0;
    const NEXT: usize = usize::MAX;
    if real == 0 || name.is_null() {
        return LoaderAnswer::jump(real);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(name) }.to_bytes();
    if !is_of_mpi(text) {
        return LoaderAnswer::jump(real);
    }
    let own = with_own(|own| {
        let number = own.find(text, objects::hash(text))?;
        Some((own.address(number), number))
    });
    let Some(Some((stub, number))) = own else { return LoaderAnswer::jump(real) };
    update();
    let hidden = || {
        if WRITABLE.load(Relaxed) {
            with_own(|own| hide(own, number));
            REVEALED.store(true, Relaxed);
        }
        LoaderAnswer::jump(real)
    };
    type Versioned = unsafe extern "C" fn(usize, *const c_char, *const c_char) -> usize;
    // SAFETY: the loader's function; dlsym takes no third argument.
    let ask = |handle: usize| unsafe {
        core::mem::transmute::<usize, Versioned>(real)(handle, name, version)
    };
    // From here on, behind the library.
    let next = ask(NEXT);
    if [DEFAULT, NEXT].contains(&handle) {
        let is_seen = next != 0 || {
            let library = sys::library_of(caller) as usize;
            library != 0 && ![0, stub].contains(&ask(library))
        };
        // The loader looks at who asks, so it is asked by whom it was.
        return if is_seen { LoaderAnswer::jump(real) } else { hidden() };
    }
    let found = ask(handle);
    if found == stub {
        return if next == 0 { hidden() } else { LoaderAnswer::value(found) };
    }
    let counted = found != 0 && (next == found || next == 0) && below::adopt(text, found);
    LoaderAnswer::value(if counted { stub } else { found })
}

/// At `dlopen(file, mode)`.
///
/// # Safety
/// A path with a NUL, or null.
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_opens(file: *const c_char, mode: c_int, _: usize) -> LoaderAnswer {
    const NO_LOAD: c_int = 4;
    let real = dlopen();
    if real == 0 || file.is_null() || mode & NO_LOAD != 0 {
        return LoaderAnswer::jump(real);
    }
    reveal();
    // SAFETY: the caller's promise.
    let path = unsafe { CStr::from_ptr(file) }.to_bytes();
    // Where a library is looked for may depend on who asks; names are then brought up to date
    // later.
    if !path.contains(&b'/') || path.contains(&b'$') || RPATHS.load(Relaxed) {
        return LoaderAnswer::jump(real);
    }
    type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
    // SAFETY: the loader's function.
    let handle = unsafe { core::mem::transmute::<usize, Open>(real)(file, mode) };
    if !handle.is_null() {
        update();
    }
    LoaderAnswer::value(handle as usize)
}

/// When the library is loaded: what was filled in before it had a say.
extern "C" fn loaded() {
    update();
}

#[used]
#[cfg_attr(not(any(test, topas_mpi_wrap)), unsafe(link_section = ".init_array"))]
static LOADED: extern "C" fn() = loaded;
