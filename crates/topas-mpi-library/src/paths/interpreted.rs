//! Paths of threads that run Python: the functions of libraries that called MPI, and behind them the
//! functions of Python that called these.
//!
//! The interpreter's own frames look alike for all functions of Python. So the first of them ends
//! the functions of libraries. What binds Python to MPI is left out: mpi4py, ctypes and cffi. So is
//! what Python calls to import a module.

use core::sync::atomic::{AtomicU32, Ordering::Release};

use topas_callpath::{Caller, Memory, WalkEnd, module_of, walk};
use topas_mpi_profile::layout::{
    CallPath, OFFSET_BITS, PATH_FUNCTIONS, PATH_MODULES, PATHS, PathEnd, PathFunction, PathTable,
};

use super::python::{self, Interpreter, PythonFrames, PythonPlace, base_name, mix};
use super::stack::StackBounds;
use super::{SLOTS, Slot, ThreadPaths, in_module, new_path, path_end, path_hash};
use crate::spool;
use crate::workspace::keep;

/// Places of the hash table that may be in use: several hashes may lead to one path.
const MOST_SLOTS: u32 = 896;

/// Frames of what binds Python to MPI, and one of the interpreter.
const BINDING_FRAMES: usize = 4;

/// Most frames of libraries in front of those of Python.
const LIBRARY_FRAMES: usize = 10;

/// What a thread keeps for its functions of Python.
pub struct InterpretedPaths {
    interpreter: Option<Interpreter>,
    stack: StackBounds,
    /// Places of the hash table in use
    slots: u32,
}

impl InterpretedPaths {
    /// Whether threads are asked for functions of Python. Python loads its MPI, and programs that hold
    /// their MPI have no room for what is not theirs.
    const ARE_TOLD: bool = !cfg!(topas_mpi_wrap);

    /// Of a thread that is not asked for them, in new memory.
    ///
    /// # Safety
    /// Memory for one of them that is zeroed.
    pub unsafe fn write_none(this: *mut InterpretedPaths) {
        if InterpretedPaths::ARE_TOLD {
            let none = InterpretedPaths { interpreter: None, stack: StackBounds::NONE, slots: 0 };
            // SAFETY: the caller's promise.
            unsafe { this.write(none) };
        }
    }

    /// For a new thread.
    #[cold]
    pub fn begin(&mut self) {
        if InterpretedPaths::ARE_TOLD {
            self.stack = StackBounds::NONE;
            self.interpreter = python::find();
        }
    }

    /// Whether there is Python.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        InterpretedPaths::ARE_TOLD && self.interpreter.is_some()
    }
}

impl ThreadPaths {
    /// The number of the path of a call.
    #[inline(never)]
    pub fn interpreted_path(&mut self, function: u32, caller: Caller) -> u32 {
        let StackBounds { start, end } = self.interpreted.stack;
        if !(start..end).contains(&caller.stack) {
            let is_known = self.new_stack(caller);
            self.interpreted.stack = core::mem::replace(&mut self.stack, StackBounds::NONE);
            if !is_known {
                return 0;
            }
        }
        // SAFETY: the table is the thread's own part of the file.
        let depth = unsafe { (*self.table).depth } as usize;
        // SAFETY: the stack is mapped until this end.
        let stack = unsafe { Memory::new(caller.stack, self.interpreted.stack.end) };
        let Some(interpreter) = &self.interpreted.interpreter else { return 0 };
        let python = interpreter.hash();
        // What binds Python to MPI has few frames.
        let mut room = if python.is_some() { depth.min(BINDING_FRAMES) } else { depth };
        let (found, libraries) = loop {
            let Some(frames) = self.frames.get_mut(..room) else { return 0 };
            let found = walk(&mut self.rows, caller, stack, frames);
            let own = frames.iter().take(found.count).position(|frame| interpreter.holds(*frame));
            if own.is_some() || room == depth {
                break (found, own.unwrap_or(found.count).min(LIBRARY_FRAMES));
            }
            room = depth;
        };
        let hash = match python {
            None => path_hash(found.hash, function, found.end),
            Some(hash) => {
                let frames = self.frames.iter().take(libraries);
                let hash = frames.fold(hash, |hash, address| mix(hash, *address));
                path_hash(hash, function, WalkEnd::Outermost)
            }
        };
        let first = (hash >> 54) as usize;
        let Some(place) = self.place(first, hash) else { return 0 };
        if let Some(slot) = self.slots.get(place).filter(|slot| slot.hash == hash) {
            return slot.path;
        }
        let path = match python {
            None => self.learn_interpreted(function, found.count, None, path_end(found.end)),
            Some(_) => {
                let frames = interpreter.frames();
                let end = if frames.deeper { PathEnd::Deeper } else { PathEnd::Outermost };
                self.learn_interpreted(function, libraries, Some(&frames), end)
            }
        };
        // A table that is full would be looked through for each call.
        let mut place = place;
        if self.interpreted.slots < MOST_SLOTS {
            self.interpreted.slots += 1;
        } else {
            place = first % SLOTS;
        }
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = Slot { hash, path };
        }
        path
    }

    /// A path that was not seen in this way: its number, 0 if there is no room. The same functions and
    /// lines may have been seen in another way.
    #[cold]
    #[inline(never)]
    fn learn_interpreted(
        &mut self,
        function: u32,
        libraries: usize,
        python: Option<&PythonFrames>,
        ending: PathEnd,
    ) -> u32 {
        // SAFETY: the table is the thread's own part of the file.
        let table = unsafe { &mut *self.table };
        let mut path =
            CallPath { function: function as u16 + 1, end: ending as u16, ..CallPath::default() };
        let mut count = 0;
        for address in self.frames.iter().take(libraries) {
            if (python.is_none() || !is_binding(*address))
                && let Some(place) = path.frames.get_mut(count)
            {
                *place = in_module(table, *address);
                count += 1;
            }
        }
        let first = count;
        let mut room = path.frames.iter_mut().skip(count).take(table.depth as usize);
        for frame in python.map(PythonFrames::all).into_iter().flatten() {
            let place =
                self.interpreted.interpreter.as_ref().and_then(|python| python.place(frame));
            if let Some(place) = &place
                && (count == first && is_of_mpi4py(place.file()) || is_of_import(place.file()))
            {
                continue;
            }
            let Some(room) = room.next() else {
                path.end = PathEnd::Deeper as u16;
                break;
            };
            *room = place.map_or(0, |place| in_function(table, &place));
            count += 1;
        }
        path.count = count as u16;
        let same = |known: &CallPath| {
            (known.function, known.end, known.count) == (path.function, path.end, path.count)
                && known.frames == path.frames
        };
        let known = table.path.iter().take(table.count as usize).position(same);
        match known {
            Some(number) => number as u32,
            None if table.count as usize >= PATHS => 0,
            None => new_path(table, path),
        }
    }
}

/// Whether a file is one of mpi4py.
fn is_of_mpi4py(file: &[u8]) -> bool {
    const DIRECTORY: &[u8] = b"mpi4py";
    file.split(|byte| *byte == b'/').rev().skip(1).any(|part| part == DIRECTORY)
}

/// Whether a file is one of those by which Python itself imports modules.
fn is_of_import(file: &[u8]) -> bool {
    file.starts_with(b"<frozen importlib.")
}

/// Whether an address is in a library that binds Python to those written in C.
fn is_binding(address: usize) -> bool {
    const FRONTS: [&[u8]; 3] = [b"_ctypes.", b"libffi", b"_cffi_backend."];
    module_of(address.wrapping_sub(1)).is_some_and(|module| {
        let base = base_name(module.name());
        is_of_mpi4py(module.name()) || FRONTS.iter().any(|front| base.starts_with(front))
    })
}

/// A place in a function of Python as the file tells it: function and line.
fn in_function(table: &mut PathTable, place: &PythonPlace) -> u64 {
    if table.functions == 0 {
        table.functions = spool::reserve(size_of::<[PathFunction; PATH_FUNCTIONS]>());
        if table.functions == 0 {
            return 0;
        }
    }
    // SAFETY: a part of the file that is this thread's own, zeroed, which is a value of this type.
    let functions = unsafe { &mut *spool::at::<[PathFunction; PATH_FUNCTIONS]>(table.functions) };
    let count = table.function_count as usize;
    let known = functions.iter().take(count).position(|known| known.print == place.print);
    let number = known.unwrap_or(count);
    if known.is_none() {
        let Some(new) = functions.get_mut(count) else { return 0 };
        new.print = place.print;
        let file = place.file();
        let has_room = file.len() < new.file.len();
        keep(&mut new.file, if has_room { file } else { place.base() });
        keep(&mut new.name, place.name());
        // Behind what it is, as with paths.
        // SAFETY: a word of the thread's own.
        unsafe { AtomicU32::from_ptr(&raw mut table.function_count) }
            .store(count as u32 + 1, Release);
    }
    ((number + PATH_MODULES) as u64 + 1) << OFFSET_BITS | u64::from(place.line)
}
