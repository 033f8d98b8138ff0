//! Which functions of Python a thread is in, and in which lines.
//!
//! A thread that calls MPI stays in its functions of Python until the call returns, so it reads
//! its own frames. No lock of the interpreter is taken, and none of its functions is called but the
//! two that need none: which version it is, and which state belongs to this thread. Where frames lie
//! differs from version to version: see [`layout`].
//!
//! Before the first frames are believed, every word on the way to them is read only if the kernel
//! says that it can be read, and every object must be of its type. So an interpreter that is built
//! in another way is left alone. Names and lines are read in this way each time: once for a path.

mod layout;
mod lines;
mod object;

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use topas_mpi_profile::layout::PATH_FRAMES;

use crate::objects;
use layout::{FramesOf, Layout};
use object::{PyObject, Types};

/// Longest name of a function or file that is read, in characters; of longer ones the end.
const LONGEST: usize = 256;

/// What is known of the interpreter of this process.
pub struct Interpreter {
    layout: Layout,
    types: Types,
    /// `PyGILState_GetThisThreadState`
    this_thread: extern "C" fn() -> usize,
    /// Addresses of its module
    from: usize,
    end: usize,
}

/// A frame of a thread: it does not change while the thread is in MPI.
#[derive(Clone, Copy, Default)]
pub struct PythonFrame {
    code: usize,
    /// Address of the instruction, or its number
    instruction: usize,
}

/// What was read of the frames of a thread.
struct FramesRead {
    count: usize,
    /// There are further ones
    deeper: bool,
    /// Hash of what they are
    hash: u64,
}

/// The frames of a thread, innermost first.
pub struct PythonFrames {
    frames: [PythonFrame; PATH_FRAMES],
    count: usize,
    /// There are further ones
    pub deeper: bool,
}

/// A function and a line in it.
pub struct PythonPlace {
    /// Hash of the base name of its file, of its name and of its first line
    pub print: u64,
    /// Line
    pub line: u32,
    file: PythonText,
    name: PythonText,
}

/// Text of the interpreter, in UTF-8.
struct PythonText {
    bytes: [u8; 4 * LONGEST],
    length: usize,
}

const UNKNOWN: u32 = 0;
const BELIEVED: u32 = 1;
const REFUSED: u32 = 2;

/// Whether the frames are where they are looked for.
static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);

/// The interpreter of this process; None if there is none, or none whose frames are known.
#[cold]
#[inline(never)]
pub fn find() -> Option<Interpreter> {
    const NAMES: [&[u8]; 5] = [
        b"PyGILState_GetThisThreadState",
        b"Py_GetVersion",
        b"PyCode_Type",
        b"PyUnicode_Type",
        b"PyBytes_Type",
    ];
    if STATE.load(Relaxed) == REFUSED {
        return None;
    }
    let mut found = None;
    objects::each(|object| {
        let mut addresses = [0; NAMES.len()];
        for (address, name) in addresses.iter_mut().zip(NAMES) {
            match object.find(name, objects::hash(name)) {
                Some(number) => *address = object.address(number),
                None => return false,
            }
        }
        found = Some((addresses, object.span()));
        true
    });
    let ([this_thread, version, code, text, bytes], (from, end)) = found?;
    // SAFETY: functions of the interpreter, which has had them since version 3.3.
    let (this_thread, version) = unsafe {
        (
            core::mem::transmute::<usize, extern "C" fn() -> usize>(this_thread),
            core::mem::transmute::<usize, extern "C" fn() -> *const c_char>(version),
        )
    };
    // SAFETY: its text, which stays.
    let version = unsafe { CStr::from_ptr(version()) };
    let layout = Layout::of(version.to_bytes())?;
    Some(Interpreter { layout, types: Types { code, text, bytes }, this_thread, from, end })
}

impl Interpreter {
    /// Whether an address is in the module of the interpreter.
    pub fn holds(&self, address: usize) -> bool {
        (self.from..self.end).contains(&address)
    }

    /// What tells the frames of this thread from others; None if it is in no function of Python.
    #[inline(always)]
    pub fn hash(&self) -> Option<u64> {
        let thread = (self.this_thread)();
        if thread == 0 {
            return None;
        }
        let state = STATE.load(Relaxed);
        let read = if state == BELIEVED {
            self.read::<true>(thread, |_| ())?
        } else if state == UNKNOWN {
            self.first(thread)?
        } else {
            return None;
        };
        (read.count > 0).then_some(read.hash)
    }

    /// The first frames of the process, by which the others are believed or not.
    #[cold]
    #[inline(never)]
    fn first(&self, thread: usize) -> Option<FramesRead> {
        let mut are_frames = true;
        let read = self.read::<false>(thread, |frame| are_frames &= self.place(&frame).is_some());
        let read = read.filter(|_| are_frames);
        if read.as_ref().is_none_or(|read| read.count > 0) {
            STATE.store(if read.is_some() { BELIEVED } else { REFUSED }, Relaxed);
        }
        read
    }

    /// The frames of this thread, which is in functions of Python that are believed.
    #[cold]
    #[inline(never)]
    pub fn frames(&self) -> PythonFrames {
        let mut found = PythonFrames {
            frames: [PythonFrame { code: 0, instruction: 0 }; PATH_FRAMES],
            count: 0,
            deeper: false,
        };
        let read = self.read::<true>((self.this_thread)(), |frame| {
            if let Some(place) = found.frames.get_mut(found.count) {
                *place = frame;
                found.count += 1;
            }
        });
        found.deeper = read.is_some_and(|read| read.deeper);
        found
    }

    /// Reads the frames of a thread; None if they are not where they should be. If they are not believed
    /// yet, only words are read that can be.
    #[inline(always)]
    fn read<const BELIEVED: bool>(
        &self,
        thread: usize,
        mut each: impl FnMut(PythonFrame),
    ) -> Option<FramesRead> {
        let layout = &self.layout;
        let word = |at: usize| object::word::<BELIEVED>(at);
        let mut at = word(thread.wrapping_add(layout.of_thread))?;
        if layout.frames_of == FramesOf::Caller {
            at = word(at.wrapping_add(layout.of_caller))?;
        }
        let mut read = FramesRead { count: 0, deeper: false, hash: 0 };
        // Frames of the interpreter itself stand between those of functions.
        let mut steps = 4 * PATH_FRAMES;
        while at != 0 {
            steps = steps.checked_sub(1)?;
            let above = word(at.wrapping_add(layout.previous))?;
            let own = layout.owner != 0
                && object::byte::<BELIEVED>(at.wrapping_add(layout.owner))?
                    >= layout.first_own_owner;
            if !own {
                if read.count == PATH_FRAMES {
                    read.deeper = true;
                    break;
                }
                let code = word(at.wrapping_add(layout.code))?;
                let instruction = layout.instruction(word(at.wrapping_add(layout.instruction))?);
                // Code that is gone may have left its place to other code.
                let name = word(code.wrapping_add(layout.name))?;
                let lines = word(code.wrapping_add(layout.lines))?.rotate_left(20);
                let line = (word(code.wrapping_add(layout.first_line))? as u32 as usize) << 44;
                each(PythonFrame { code, instruction });
                read.count += 1;
                read.hash = mix(mix(read.hash, code), instruction ^ name ^ lines ^ line);
            }
            at = above;
        }
        Some(read)
    }

    /// What a frame is in the source; None if its objects are not what they should be.
    #[cold]
    #[inline(never)]
    pub fn place(&self, frame: &PythonFrame) -> Option<PythonPlace> {
        let layout = &self.layout;
        let code = PyObject::of(frame.code, self.types.code)?;
        let file = self.text(code.word(layout.file)?)?;
        let mut name = self.text(code.word(layout.name)?)?;
        if layout.long_name != 0 {
            name = self.text(code.word(layout.long_name)?)?;
        }
        let first = code.word(layout.first_line)? as u32;
        let table = PyObject::of(code.word(layout.lines)?, self.types.bytes)?;
        let line = lines::line(
            layout.lines_form,
            table.bytes()?,
            first,
            layout.unit(frame.code, frame.instruction),
        );
        let mut print = 0xcbf2_9ce4_8422_2325;
        let mut put = |bytes: &[u8]| {
            for byte in bytes.iter().chain(&[0]) {
                print = (print ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        };
        put(file.base());
        put(name.bytes());
        put(&first.to_le_bytes());
        Some(PythonPlace { print, line, file, name })
    }

    #[inline(never)]
    fn text(&self, at: usize) -> Option<PythonText> {
        let mut text = PythonText { bytes: [0; 4 * LONGEST], length: 0 };
        for letter in PyObject::of(at, self.types.text)?.letters(&self.layout, LONGEST)? {
            let mut room = [0; 4];
            let letter = char::from_u32(letter?).unwrap_or('?').encode_utf8(&mut room).as_bytes();
            let end = text.length + letter.len();
            text.bytes.get_mut(text.length..end)?.copy_from_slice(letter);
            text.length = end;
        }
        Some(text)
    }
}

/// The hash of one word more.
#[inline(always)]
pub fn mix(hash: u64, word: usize) -> u64 {
    (hash ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

impl PythonFrames {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &PythonFrame> {
        self.frames.iter().take(self.count)
    }
}

impl PythonPlace {
    /// Path of the file.
    pub fn file(&self) -> &[u8] {
        self.file.bytes()
    }

    /// Name of the file without its directories.
    pub fn base(&self) -> &[u8] {
        self.file.base()
    }

    /// Name of the function.
    pub fn name(&self) -> &[u8] {
        self.name.bytes()
    }
}

impl PythonText {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn base(&self) -> &[u8] {
        base_name(self.bytes())
    }
}

/// What stands behind the last slash.
pub fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}
