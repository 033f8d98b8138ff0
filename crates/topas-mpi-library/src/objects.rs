//! The objects of the process as the loader has them: which of them defines a name, and where one
//! refers to it. Read by hand, because the loader answers for all that come before, too.

use core::ffi::{c_char, c_int, c_void};

/// A symbol, as ELF has it.
#[repr(C)]
pub struct ElfSymbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: u64,
}

/// A place that the loader fills in, as ELF has it.
#[repr(C)]
pub struct Relocation {
    place: usize,
    info: u64,
    addend: i64,
}

#[repr(C)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: usize,
    physical: u64,
    in_file: u64,
    size: usize,
    align: u64,
}

#[repr(C)]
struct Info {
    base: usize,
    name: *const c_char,
    segments: *const Segment,
    count: u16,
    adds: u64,
    subs: u64,
}

type Callback = unsafe extern "C" fn(*const Info, usize, *mut c_void) -> c_int;

unsafe extern "C" {
    fn dl_iterate_phdr(callback: Callback, data: *mut c_void) -> c_int;
}

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_GNU_RELRO: u32 = 0x6474_e552;

/// Undefined, and a reference that may stay so.
const WEAK: u8 = 2;

/// Relocations that hold nothing but the address of a symbol: in a table of addresses, in one of
/// functions, anywhere.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: [u32; 3] = [6, 7, 1];
/// The same.
#[cfg(target_arch = "aarch64")]
const ADDRESSES: [u32; 3] = [1025, 1026, 257];

/// In place of the lowest bit of a hash in a table: the last of its bucket.
pub const LAST: u32 = 1;
/// The bit of a hash in the library's own table that is another one while the name is hidden.
pub const HIDES: u32 = 1 << 31;

/// An object of the process.
pub struct LoadedObject {
    base: usize,
    file: *const c_char,
    dynamic: *const [usize; 2],
    segments: *const Segment,
    count: usize,
    symbols: *const ElfSymbol,
    strings: *const u8,
    gnu_hash: *const u32,
    hash: *const u32,
    relocations: [(*const Relocation, usize); 2],
    /// The object tells the loader where libraries are looked for that the object and others need
    pub has_rpath: bool,
}

/// The filter of a table that is sorted by the new hash: two bits are set for each name in the table.
pub struct NameFilter {
    bits: *const u64,
    last: u32,
    shift: u32,
}

impl NameFilter {
    /// Whether a name of this hash may be in the table, whatever the lowest bit of the hash.
    #[inline(always)]
    pub fn may_hold(&self, hash: u32) -> bool {
        // SAFETY: no place behind the last word.
        let word = unsafe { *self.bits.add(((hash / 64) & self.last) as usize) };
        let either = word >> ((hash & !LAST) % 64) & 3;
        either != 0 && word >> (hash.wrapping_shr(self.shift) % 64) & 1 != 0
    }
}

/// What the loader has loaded and unloaded so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Loads {
    /// Objects that came
    pub adds: u64,
    /// Objects that went
    pub subs: u64,
}

/// Calls a function for every object, in the order of the loader, until it returns true; tells what
/// was loaded by then.
pub fn each(visit: impl FnMut(&LoadedObject) -> bool) -> Loads {
    each_from(0, visit)
}

/// The same without the first so many objects.
pub fn each_from(first: usize, mut visit: impl FnMut(&LoadedObject) -> bool) -> Loads {
    let mut at = 0;
    each_info(|info| {
        at += 1;
        // SAFETY: the loader's own description of an object.
        at > first && unsafe { LoadedObject::new(info) }.is_some_and(|object| visit(&object))
    })
}

/// Calls a function with where every object begins, in the order of the loader.
pub fn each_base(mut visit: impl FnMut(usize)) -> Loads {
    each_info(|info| {
        visit(info.base);
        false
    })
}

/// What was loaded and unloaded so far.
pub fn loads() -> Loads {
    each_info(|_| true)
}

fn each_info(mut visit: impl FnMut(&Info) -> bool) -> Loads {
    type Visit<'a> = (&'a mut dyn FnMut(&Info) -> bool, Loads);
    unsafe extern "C" fn callback(info: *const Info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: what `each_info` passed; the loader's own description of an object.
        let ((visit, loads), info) = unsafe { (&mut *data.cast::<Visit<'_>>(), &*info) };
        *loads = Loads { adds: info.adds, subs: info.subs };
        visit(info).into()
    }
    let mut data: Visit<'_> = (&mut visit, Loads { adds: 0, subs: 0 });
    // SAFETY: the callback gets what it expects.
    unsafe { dl_iterate_phdr(callback, (&raw mut data).cast()) };
    data.1
}

/// The hash of a name, as the loader computes it.
pub fn hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add((*byte).into()))
}

/// The old hash of a name.
fn old_hash(name: &[u8]) -> u32 {
    name.iter().fold(0, |hash: u32, byte| {
        let sum = (hash << 4).wrapping_add((*byte).into());
        let high = sum & 0xf000_0000;
        (sum ^ (high >> 24)) & !high
    })
}

impl LoadedObject {
    /// # Safety
    /// The loader's description of an object that is loaded.
    unsafe fn new(info: &Info) -> Option<LoadedObject> {
        let mut object = LoadedObject {
            base: info.base,
            file: info.name,
            dynamic: core::ptr::null(),
            segments: info.segments,
            count: info.count.into(),
            symbols: core::ptr::null(),
            strings: core::ptr::null(),
            gnu_hash: core::ptr::null(),
            hash: core::ptr::null(),
            relocations: [(core::ptr::null(), 0); 2],
            has_rpath: false,
        };
        let dynamic = object.segments().find(|segment| segment.kind == PT_DYNAMIC)?;
        let mut at = info.base.wrapping_add(dynamic.address) as *const [usize; 2];
        object.dynamic = at;
        // Some loaders put addresses in place of distances from the beginning of the object.
        let address = |value: usize| {
            if value < info.base { info.base.wrapping_add(value) } else { value }
        };
        let [mut tables, mut jumps] = [(0, 0); 2];
        loop {
            // SAFETY: the section ends with a tag that is 0.
            let [tag, value] = unsafe { *at };
            match tag {
                0 => break,
                2 => jumps.1 = value,
                4 => object.hash = address(value) as *const u32,
                5 => object.strings = address(value) as *const u8,
                6 => object.symbols = address(value) as *const ElfSymbol,
                7 => tables.0 = address(value),
                8 => tables.1 = value,
                15 => object.has_rpath = true,
                23 => jumps.0 = address(value),
                0x6fff_fef5 => object.gnu_hash = address(value) as *const u32,
                _ => {}
            }
            at = at.wrapping_add(1);
        }
        let list = |(at, bytes): (usize, usize)| {
            let count = if at == 0 { 0 } else { bytes / size_of::<Relocation>() };
            (at as *const Relocation, count)
        };
        object.relocations = [list(tables), list(jumps)];
        (!object.symbols.is_null() && !object.strings.is_null()).then_some(object)
    }

    fn segments(&self) -> impl Iterator<Item = &Segment> {
        // SAFETY: as many as the loader says.
        (0..self.count).map(|i| unsafe { &*self.segments.add(i) })
    }

    /// The path by which it was loaded; empty for the executable.
    pub fn file(&self) -> &[u8] {
        if self.file.is_null() {
            return &[];
        }
        // SAFETY: the loader's own name.
        unsafe { core::ffi::CStr::from_ptr(self.file) }.to_bytes()
    }

    /// Whether it needs a library itself.
    pub fn needs(&self, is_it: impl Fn(&[u8]) -> bool) -> bool {
        const NEEDED: usize = 1;
        let mut at = self.dynamic;
        loop {
            // SAFETY: the section ends with a tag that is 0; names are among the strings.
            unsafe {
                match *at {
                    [0, _] => return false,
                    [NEEDED, name]
                        if is_it(
                            core::ffi::CStr::from_ptr(self.strings.add(name).cast()).to_bytes(),
                        ) =>
                    {
                        return true;
                    }
                    _ => at = at.add(1),
                }
            }
        }
    }

    /// Whether an address is in it.
    pub fn holds(&self, address: usize) -> bool {
        self.segments().filter(|segment| segment.kind == PT_LOAD).any(|segment| {
            address.wrapping_sub(self.base.wrapping_add(segment.address)) < segment.size
        })
    }

    /// Its first address, and the first behind it.
    pub fn span(&self) -> (usize, usize) {
        let loaded = self.segments().filter(|segment| segment.kind == PT_LOAD);
        loaded.fold((usize::MAX, 0), |(from, end), segment| {
            let at = self.base.wrapping_add(segment.address);
            (from.min(at), end.max(at.wrapping_add(segment.size)))
        })
    }

    fn symbol(&self, number: usize) -> *const ElfSymbol {
        self.symbols.wrapping_add(number)
    }

    /// The name of a symbol.
    pub fn name(&self, number: usize) -> &[u8] {
        // SAFETY: a number of its table, whose names are in the strings and end with a NUL.
        unsafe {
            let at = self.strings.add((*self.symbol(number)).name as usize);
            core::ffi::CStr::from_ptr(at.cast()).to_bytes()
        }
    }

    /// Whether the name of a symbol begins so. Most names differ in their first byte, and are long.
    pub fn name_begins(&self, number: usize, front: &[u8]) -> bool {
        // SAFETY: a number of its table, whose names are in the strings and end with a NUL.
        let at = unsafe { self.strings.add((*self.symbol(number)).name as usize) };
        // SAFETY: not behind the NUL, which is in no front.
        front.iter().enumerate().all(|(i, byte)| unsafe { *at.add(i) } == *byte)
    }

    /// The address that its own addresses are added to.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Where it defines a symbol.
    pub fn address(&self, number: usize) -> usize {
        // SAFETY: a number of its table.
        self.base.wrapping_add(unsafe { (*self.symbol(number)).value })
    }

    /// Where the hash of a symbol that it defines stands, of tables that are sorted by the new hash,
    /// with [`LAST`] in place of the lowest bit.
    pub fn chained_hash(&self, number: usize) -> *mut u32 {
        // SAFETY: the loader's table of this form.
        let (buckets, first, bloom) =
            unsafe { (*self.gnu_hash, *self.gnu_hash.add(1), *self.gnu_hash.add(2)) };
        let chain = self.gnu_hash.wrapping_add(4 + 2 * bloom as usize + buckets as usize);
        chain.wrapping_add(number.wrapping_sub(first as usize)).cast_mut()
    }

    /// The first number of [`defined`](Self::defined); 0 without such a table.
    pub fn first_defined(&self) -> usize {
        // SAFETY: the loader's table of this form.
        if self.gnu_hash.is_null() { 0 } else { unsafe { *self.gnu_hash.add(1) as usize } }
    }

    /// Calls a function with the number of every symbol that it defines and whose hash a filter may hold; of every
    /// symbol if its table has no new hashes.
    pub fn each_defined(&self, filter: &NameFilter, mut visit: impl FnMut(usize)) {
        if self.gnu_hash.is_null() {
            // SAFETY: the loader's table of the old form, whose second word counts symbols.
            let count = if self.hash.is_null() { 0 } else { unsafe { *self.hash.add(1) } };
            (1..count as usize).filter(|number| self.is_defined(*number)).for_each(visit);
            return;
        }
        let defined = self.defined();
        let hashes = self.chained_hash(defined.start);
        for (place, number) in defined.enumerate() {
            // SAFETY: an entry of the table.
            let hash = unsafe { hashes.add(place).read_volatile() };
            if filter.may_hold(hash) && self.is_defined(number) {
                visit(number);
            }
        }
    }

    /// What tells that it does not define most other names.
    pub fn filter(&self) -> NameFilter {
        if self.gnu_hash.is_null() {
            return NameFilter { bits: &u64::MAX, last: 0, shift: 0 };
        }
        // SAFETY: the loader's table of this form, whose words are as many as a power of two.
        let (words, shift) = unsafe { (*self.gnu_hash.add(2), *self.gnu_hash.add(3)) };
        let bits = self.gnu_hash.wrapping_add(4).cast();
        NameFilter { bits, last: words.saturating_sub(1), shift }
    }

    /// The numbers of the symbols that it defines, of tables that are sorted by the new hash.
    pub fn defined(&self) -> core::ops::Range<usize> {
        if self.gnu_hash.is_null() {
            return 0..0;
        }
        // SAFETY: the loader's table of this form.
        unsafe {
            let (buckets, first) = (*self.gnu_hash as usize, *self.gnu_hash.add(1) as usize);
            let bloom = *self.gnu_hash.add(2) as usize;
            let at = self.gnu_hash.add(4 + 2 * bloom);
            let last = (0..buckets).map(|i| *at.add(i) as usize).max().unwrap_or(0);
            if last < first {
                return first..first;
            }
            let mut end = last;
            while *self.chained_hash(end) & LAST == 0 {
                end += 1;
            }
            first..end + 1
        }
    }

    /// The number of a symbol of this name that it defines, shown or hidden.
    pub fn find(&self, name: &[u8], hash: u32) -> Option<usize> {
        // SAFETY: the loader's tables of these forms.
        unsafe {
            if self.gnu_hash.is_null() {
                return self.find_by_old_hash(name);
            }
            let (buckets, first) = (*self.gnu_hash, *self.gnu_hash.add(1) as usize);
            let (words, shift) = (*self.gnu_hash.add(2), *self.gnu_hash.add(3));
            let bloom = self.gnu_hash.add(4).cast::<u64>();
            let word = *bloom.add((hash / 64).checked_rem(words)? as usize);
            let bits = 1u64 << (hash % 64) | 1u64 << (hash.wrapping_shr(shift) % 64);
            if word & bits != bits {
                return None;
            }
            let at = bloom.add(words as usize).cast::<u32>();
            let mut number = *at.add(hash.checked_rem(buckets)? as usize) as usize;
            if number < first {
                return None;
            }
            loop {
                let found = self.chained_hash(number).read_volatile();
                if (found ^ hash) & !(LAST | HIDES) == 0 && self.defines(number, name) {
                    return Some(number);
                }
                if found & LAST != 0 {
                    return None;
                }
                number += 1;
            }
        }
    }

    /// # Safety
    /// The object is loaded.
    unsafe fn find_by_old_hash(&self, name: &[u8]) -> Option<usize> {
        if self.hash.is_null() {
            return None;
        }
        // SAFETY: the loader's table of this form.
        unsafe {
            let buckets = *self.hash;
            let place = old_hash(name).checked_rem(buckets)? as usize;
            let chain = self.hash.add(2 + buckets as usize);
            let mut number = *self.hash.add(2 + place) as usize;
            while number != 0 {
                if self.defines(number, name) {
                    return Some(number);
                }
                number = *chain.add(number) as usize;
            }
        }
        None
    }

    fn defines(&self, number: usize, name: &[u8]) -> bool {
        self.is_defined(number) && self.name(number) == name
    }

    fn is_defined(&self, number: usize) -> bool {
        // SAFETY: a number of its table.
        let symbol = unsafe { &*self.symbol(number) };
        symbol.section != 0 && symbol.value != 0
    }

    /// Calls a function for every place that holds the address of a symbol to which it refers
    /// weakly, with the number of that symbol, the place, and what is added to the address.
    pub fn weak_references(
        &self,
        wanted: impl Fn(&[u8]) -> bool,
        mut visit: impl FnMut(usize, *mut usize, i64),
    ) {
        let refers = |number: usize| {
            // SAFETY: a number of its table.
            let symbol = unsafe { &*self.symbol(number) };
            symbol.section == 0 && symbol.info >> 4 == WEAK && wanted(self.name(number))
        };
        // In a table that is sorted by the new hash, symbols that are defined elsewhere come first: these are few,
        // relocations are many. Where none is defined, the table does not tell how many there are; and an executable
        // at a fixed place has some among the others, whose addresses are in itself.
        let defined = self.defined();
        if self.base != 0 && !defined.is_empty() && !(1..defined.start).any(refers) {
            return;
        }
        for (list, count) in self.relocations {
            for i in 0..count {
                // SAFETY: as many as the object has.
                let relocation = unsafe { &*list.add(i) };
                let number = (relocation.info >> 32) as usize;
                if number != 0 && ADDRESSES.contains(&(relocation.info as u32)) && refers(number) {
                    let place = self.base.wrapping_add(relocation.place) as *mut usize;
                    visit(number, place, relocation.addend);
                }
            }
        }
    }

    /// Whether the loader has made a place read-only.
    pub fn is_read_only(&self, place: *mut usize) -> bool {
        self.segments().filter(|segment| segment.kind == PT_GNU_RELRO).any(|segment| {
            let begin = self.base.wrapping_add(segment.address);
            (place as usize).wrapping_sub(begin) < segment.size
        })
    }
}
