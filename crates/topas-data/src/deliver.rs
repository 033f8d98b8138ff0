//! Lines for the center's log that a tool writes in place of a program that is gone.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use topas_format::civil::Date;
use topas_format::form::{Values, number, text};
use topas_format::out::Out;
use topas_format::target::{self, TargetKind};
use topas_node::log::{TAG, write_to};
use topas_node::sys::PATH_MAX;

/// How long a socket that is full is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The error number of a socket that is full.
const AGAIN: i32 = Errno::EAGAIN as i32;

/// Who writes, for the `%` forms of paths.
#[derive(Clone, Copy, Debug)]
pub struct LineWriter<'a> {
    /// Local day
    pub date: Date,
    /// User
    pub uid: u32,
    /// Node
    pub host: &'a [u8],
}

/// Writes lines to the first of the targets of `log =` that takes them, by the same code as
/// measured programs: into a file with one `write`, so that lines of many stay whole, to a socket
/// one by one. The target.
///
/// # Errors
///
/// The targets that did not take them, and why; if one broke off in between it is the last.
pub fn deliver(
    targets: &[u8],
    writer: LineWriter<'_>,
    lines: &[u8],
) -> Result<String, Vec<(String, io::Error)>> {
    let mut failed = Vec::new();
    for target in targets.split(|byte| byte.is_ascii_whitespace()).filter(|t| !t.is_empty()) {
        let name = String::from_utf8_lossy(target).into_owned();
        match to_target(target, writer, lines) {
            Ok(()) => return Ok(name),
            Err((cause, begun)) => {
                failed.push((name, cause));
                // The other lines would stand elsewhere.
                if begun {
                    break;
                }
            }
        }
    }
    Err(failed)
}

/// Appends lines to a file of the user's own with one write; makes it if it is missing.
///
/// # Errors
///
/// What opening or writing says. A file that was made for the lines and took nothing is gone.
pub fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let made = OpenOptions::new().append(true).create_new(true).open(path);
    let (mut file, made) = match made {
        Ok(file) => (file, true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            (OpenOptions::new().append(true).create(true).open(path)?, false)
        }
        Err(error) => return Err(error),
    };
    file.write_all(lines).inspect_err(|_| {
        // Unless somebody has written to it meanwhile.
        if made && file.metadata().is_ok_and(|about| about.len() == 0) {
            let _ = fs::remove_file(path);
        }
    })
}

/// Writes to one target; the error, and whether some lines were taken before.
fn to_target(target: &[u8], writer: LineWriter<'_>, lines: &[u8]) -> Result<(), (io::Error, bool)> {
    let mut values = Values::new();
    values.numbers[number::YEAR] = writer.date.year.into();
    values.numbers[number::MONTH] = writer.date.month.into();
    values.numbers[number::DAY] = writer.date.day.into();
    values.numbers[number::UID] = writer.uid.into();
    values.texts[text::HOST] = Some(writer.host);
    let mut write = |lines: &[u8]| {
        let tagged = [TAG.as_slice(), lines].concat();
        let mut room = [0; PATH_MAX];
        let path = &mut Out::new(&mut room);
        write_to(target, &mut values, &tagged, || path)
    };
    let error = |errno: i32, begun| (io::Error::from_raw_os_error(errno), begun);
    if target::kind(target).0 == TargetKind::File {
        return match write(lines) {
            0 => Ok(()),
            errno => Err(error(errno, false)),
        };
    }
    let mut begun = false;
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let since = Instant::now();
        loop {
            match write(line) {
                0 => break,
                AGAIN if since.elapsed() < PATIENCE => sleep(Duration::from_millis(5)),
                errno => return Err(error(errno, begun)),
            }
        }
        begun = true;
    }
    Ok(())
}
