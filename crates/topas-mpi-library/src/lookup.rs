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
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::objects::{self, LoadedObject, Loads};
use crate::{below, sys};

/// Most names that the library defines.
const NAMES: usize = 4096;

/// A bit for each name, by its place among the library's own.
type Bits = [AtomicU64; NAMES / 64];

/// Another object defines the name, or the name is not one of MPI.
static PRESENT: Bits = [const { AtomicU64::new(0) }; NAMES / 64];
/// The hash in the table differs from that of the name.
static HIDDEN: Bits = [const { AtomicU64::new(0) }; NAMES / 64];
/// The hash in the table has [`objects::HIDES`] set while the name is hidden, and only then; of the
/// other names only while they are shown.
static HIDING: Bits = [const { AtomicU64::new(0) }; NAMES / 64];
/// How many names there are; 0 if none was looked at.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// What was loaded when the names were looked for.
static ADDS: AtomicU64 = AtomicU64::new(0);
static SUBS: AtomicU64 = AtomicU64::new(0);
/// Where the objects begin that define names, and how many these are, which may be more.
static DEFINING: [AtomicUsize; 16] = [const { AtomicUsize::new(0) }; 16];
static DEFINING_COUNT: AtomicUsize = AtomicUsize::new(0);
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

/// What the names of functions of MPI begin with.
const FRONTS: [&[u8]; 3] = [b"MPI_", b"PMPI_", b"mpi_"];

/// Whether a name may be that of a function of MPI.
fn is_of_mpi(name: &[u8]) -> bool {
    FRONTS.iter().any(|front| name.starts_with(front))
}

/// Whether the name of a symbol may be that of a function of MPI.
fn names_mpi(object: &LoadedObject, number: usize) -> bool {
    FRONTS.iter().any(|front| object.name_begins(number, front))
}

/// Calls a function with the library itself.
fn with_own<T>(f: impl FnOnce(&LoadedObject) -> T) -> Option<T> {
    let (mut f, mut result) = (Some(f), None);
    objects::each(|object| {
        let own = is_own(object);
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
            behind = is_own(object);
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
    refresh(true);
}

/// Looks what is loaded. Names that are absent are hidden, or stay as they are until somebody asks: an MPI may load
/// fifty libraries, one after the other, and asks for no name of its own in between.
fn refresh(hides: bool) {
    let is_new = COUNT.load(Relaxed) == 0 || objects::loads() != seen();
    if !(is_new || hides && REVEALED.load(Relaxed)) || BUSY.swap(true, Acquire) {
        return;
    }
    with_own(|own| {
        if is_new {
            look(own);
        }
        show(own, |word| match PRESENT.get(word) {
            Some(names) if hides => names.load(Relaxed),
            _ => u64::MAX,
        });
    });
    REVEALED.store(!hides, Relaxed);
    BUSY.store(false, Release);
}

/// What was loaded when the names were looked for.
fn seen() -> Loads {
    Loads { adds: ADDS.load(Relaxed), subs: SUBS.load(Relaxed) }
}

fn is_own(object: &LoadedObject) -> bool {
    object.holds(is_of_mpi as *const () as usize)
}

/// Looks which names the objects define that came since; those of all objects if one went that
/// defined some.
fn look(own: &LoadedObject) {
    let mut count = 0;
    let loads = objects::each_base(|_| count += 1);
    // What came is behind what was there.
    let came = loads.adds.wrapping_sub(seen().adds).min(count) as usize;
    let mut first = count as usize - came;
    if COUNT.load(Relaxed) == 0 || loads.subs != seen().subs && !are_among(first) {
        first = 0;
        begin(own);
    }
    let mut at = first;
    objects::each_from(first, |object| {
        // The executable tells only what holds for itself.
        if at > 0 && object.has_rpath {
            RPATHS.store(true, Relaxed);
        }
        at += 1;
        if !is_own(object) && define(own, object) {
            note_defining(object.base());
        }
        false
    });
    objects::each_from(first, |object| {
        if !is_own(object) {
            empty(own, object);
        }
        false
    });
    ADDS.store(loads.adds, Relaxed);
    SUBS.store(loads.subs, Relaxed);
}

/// Keeps where an object begins that defines names.
fn note_defining(base: usize) {
    let count = DEFINING_COUNT.load(Relaxed);
    if !DEFINING.iter().take(count).any(|known| known.load(Relaxed) == base) {
        if let Some(place) = DEFINING.get(count) {
            place.store(base, Relaxed);
        }
        DEFINING_COUNT.store(count + 1, Relaxed);
    }
}

/// Whether all objects that define names are among the first so many.
fn are_among(first: usize) -> bool {
    let count = DEFINING_COUNT.load(Relaxed);
    let Some(defining) = DEFINING.get(..count) else { return false };
    let [mut at, mut found] = [0; 2];
    objects::each_base(|base| {
        found +=
            usize::from(at < first && defining.iter().any(|known| known.load(Relaxed) == base));
        at += 1;
    });
    found == count
}

/// No name of MPI is there.
fn begin(own: &LoadedObject) {
    let names = own.defined();
    let is_first = COUNT.swap(names.len().min(NAMES), Relaxed) == 0;
    DEFINING_COUNT.store(0, Relaxed);
    for (word, (present, hiding)) in PRESENT.iter().zip(&HIDING).enumerate() {
        let [mut others, mut highest] = [0; 2];
        for (bit, number) in names.clone().skip(word * 64).take(64).enumerate() {
            others |= u64::from(!names_mpi(own, number)) << bit;
            // SAFETY: an entry of the table.
            let hash = unsafe { own.chained_hash(number).read_volatile() };
            highest |= u64::from(hash & objects::HIDES != 0) << bit;
        }
        present.store(others, Relaxed);
        // As long as nothing was hidden.
        if is_first {
            hiding.store(!highest, Relaxed);
        }
    }
}

/// Notes the names that an object defines; whether there are any.
fn define(own: &LoadedObject, object: &LoadedObject) -> bool {
    let mut defines = false;
    let note = |number| {
        if !names_mpi(object, number) {
            return;
        }
        let name = object.name(number);
        if let Some(number) = own.find(name, objects::hash(name))
            && let Some((word, bit)) = place(own, number)
            && let Some(names) = PRESENT.get(word)
        {
            names.fetch_or(bit, Relaxed);
            defines = true;
        }
    };
    object.each_defined(&own.filter(), note);
    defines
}

/// The word and the bit of the name of a symbol.
fn place(own: &LoadedObject, number: usize) -> Option<(usize, u64)> {
    let place = number.checked_sub(own.first_defined())?;
    Some((place / 64, 1 << (place % 64)))
}

/// Whether another object defines a name.
fn is_present(own: &LoadedObject, name: &[u8]) -> bool {
    own.find(name, objects::hash(name))
        .and_then(|number| place(own, number))
        .and_then(|(word, bit)| Some(PRESENT.get(word)?.load(Relaxed) & bit != 0))
        .unwrap_or(true)
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

/// Shows the names whose bits are set in these words, and hides the others.
fn show(own: &LoadedObject, shown: impl Fn(usize) -> u64) {
    let count = COUNT.load(Relaxed);
    let first = own.chained_hash(own.first_defined());
    for (word, hidden) in HIDDEN.iter().enumerate().take(count.div_ceil(64)) {
        let names = u64::MAX >> (64 - (count - word * 64).min(64));
        let hide = !shown(word) & names;
        let change = hidden.load(Relaxed) ^ hide;
        if change != 0 && !WRITABLE.load(Relaxed) {
            if !sys::protect(first as usize, count * size_of::<u32>(), true) {
                return;
            }
            WRITABLE.store(true, Relaxed);
        }
        hidden.store(hide, Relaxed);
        write(first, word, change, hide);
    }
}

/// Hides one name. The hashes can be written.
fn hide(own: &LoadedObject, number: usize) {
    if let Some((word, bit)) = place(own, number)
        && let Some(hidden) = HIDDEN.get(word)
    {
        hidden.fetch_or(bit, Relaxed);
        write(own.chained_hash(own.first_defined()), word, bit, bit);
    }
}

/// Writes the hashes of names of a word which change, as of hidden names or not. The hashes begin at
/// `first` and can be written.
fn write(first: *mut u32, word: usize, mut change: u64, hide: u64) {
    let highest = !(HIDING.get(word).map_or(0, |names| names.load(Relaxed)) ^ hide);
    while change != 0 {
        let bit = change.trailing_zeros();
        let at = first.wrapping_add(word * 64 + bit as usize);
        let highest = ((highest >> bit) as u32) << objects::HIDES.trailing_zeros();
        // SAFETY: an entry of the table, which a loader sees as it was or as it is.
        unsafe { at.write_volatile(at.read_volatile() & !objects::HIDES | highest) };
        change &= change - 1;
    }
}

/// All names are there: something is about to be loaded.
fn reveal() {
    if !REVEALED.swap(true, Relaxed) && !BUSY.swap(true, Acquire) {
        with_own(|own| show(own, |_| u64::MAX));
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
        refresh(false);
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
