//! The MPI of the job, opened at run time: its functions are called by the words that the binary
//! interfaces of all MPIs have in common.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A library that stays open.
pub struct Library(*mut c_void);

impl Library {
    /// Opens a library, so that what it loads itself finds it.
    ///
    /// # Errors
    ///
    /// What the loader says.
    pub fn open(name: &Path) -> Result<Library, String> {
        let text = CString::new(name.as_os_str().as_bytes())
            .map_err(|_| "its name holds a NUL".to_owned())?;
        // SAFETY: `text` ends with a NUL. Initializers of a library run; it was named, or is that
        // of the launcher.
        let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if !handle.is_null() {
            return Ok(Library(handle));
        }
        // SAFETY: no other thread is there; the text is copied at once.
        let message = unsafe { libc::dlerror() };
        if message.is_null() {
            return Err("it cannot be opened".to_owned());
        }
        // SAFETY: the loader's message ends with a NUL.
        Err(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned())
    }

    /// The address of a symbol.
    pub fn symbol(&self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        // SAFETY: the library is open, and the name ends with a NUL.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address as usize)
    }

    /// Calls a function of MPI with these words, at most twelve: what it returns, None if the
    /// library has no such function. Only [`crate::opened_mpi`] calls it, with arguments of the
    /// function's prototype.
    pub(crate) fn call(&self, name: &str, words: &[usize]) -> Option<c_int> {
        type Words = unsafe extern "C" fn(
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
        ) -> c_int;
        let address = self.symbol(name)?;
        let w: [usize; 12] =
            std::array::from_fn(|place| words.get(place).copied().unwrap_or_default());
        // SAFETY: a function of this name takes the words given, each in a register or a slot of
        // eight bytes; what is behind them it does not look at.
        Some(unsafe {
            let function: Words = std::mem::transmute(address);
            function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11])
        })
    }
}

/// Name of the processor or library that MPI put into a room: up to its NUL.
pub fn text_in(room: &[u8]) -> String {
    let end = room.iter().position(|byte| *byte == 0).unwrap_or(room.len());
    String::from_utf8_lossy(&room[..end]).into_owned()
}

const _: () = assert!(size_of::<c_char>() == 1 && size_of::<usize>() == 8);
