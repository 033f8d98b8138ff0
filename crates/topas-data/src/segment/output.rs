//! Files that appear whole or not at all, compressed as their name says.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use nix::fcntl::{AtFlags, OFlag};
use tempfile::NamedTempFile;

use crate::opened::output_place;
use crate::segment::zstd_frame;

/// What the end of a file's name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Zstd,
    Xz,
}

impl Packing {
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()) {
            Some("gz") => Packing::Gzip,
            Some("zst") => Packing::Zstd,
            Some("xz") => Packing::Xz,
            _ => Packing::Plain,
        }
    }
}

/// Compresses or not.
pub(super) enum Encoder<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Xz(liblzma::write::XzEncoder<W>),
}

impl<W: Write> Encoder<W> {
    pub fn new(packing: Packing, to: W) -> io::Result<Self> {
        Ok(match packing {
            Packing::Plain => Encoder::Plain(to),
            Packing::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(to, flate2::Compression::default()))
            }
            Packing::Zstd => Encoder::Zstd(zstd_frame(to)?),
            Packing::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(to, 6)),
        })
    }

    pub fn finish(self) -> io::Result<W> {
        match self {
            Encoder::Plain(to) => Ok(to),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
            Encoder::Xz(encoder) => encoder.finish(),
        }
    }

    pub fn writer(&mut self) -> &mut dyn Write {
        match self {
            Encoder::Plain(to) => to,
            Encoder::Gzip(encoder) => encoder,
            Encoder::Zstd(encoder) => encoder,
            Encoder::Xz(encoder) => encoder,
        }
    }
}

/// A file that has no name yet, or one that nobody looks for.
pub(crate) struct NewFile {
    pub file: File,
    path: PathBuf,
    /// Where the file system knows no files without a name
    named: Option<NamedTempFile>,
    prefix: &'static str,
}

impl NewFile {
    /// For `path`, of that mode less what the umask takes. A program that is killed may leave a
    /// file behind whose name begins with `prefix`.
    pub fn create(path: &Path, prefix: &'static str, mode: u32) -> io::Result<Self> {
        let dir = directory(path);
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(mode).custom_flags(OFlag::O_TMPFILE.bits());
        let (file, named) = match options.open(dir) {
            Ok(file) => (file, None),
            Err(_) => {
                let mut builder = tempfile::Builder::new();
                builder.prefix(prefix).permissions(Permissions::from_mode(mode));
                let named = builder.tempfile_in(dir)?;
                (named.reopen()?, Some(named))
            }
        };
        Ok(NewFile { file, path: path.to_owned(), named, prefix })
    }

    /// Gives it its name, once all of it is on the disk; a file of that name is replaced.
    pub fn commit(self) -> io::Result<()> {
        self.file.sync_all()?;
        match self.named {
            Some(named) => drop(named.persist(&self.path).map_err(|e| e.error)?),
            None => give_name(&self.file, &self.path, self.prefix)?,
        }
        File::open(directory(&self.path))?.sync_all()
    }
}

/// A new file with lines, mode 0600 and visible only when it is whole; one that it replaces
/// gives it its mode and, as far as that is allowed, its owner.
pub struct Output {
    encoder: Encoder<BufWriter<File>>,
    /// None for what is no file to be replaced: standard output, a device, a pipe
    new: Option<NewFile>,
}

impl Output {
    /// Begins a file; `-` is standard output. `.gz`, `.zst` and `.xz` are compressed.
    ///
    /// # Errors
    ///
    /// What making it says.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::of_mode(path, Packing::of(path), 0o600)
    }

    /// As [`Output::create`], never compressed, and of the mode that the user's files get.
    ///
    /// # Errors
    ///
    /// What making it says.
    pub fn shared(path: &Path) -> io::Result<Self> {
        Self::of_mode(path, Packing::Plain, 0o666)
    }

    fn of_mode(path: &Path, packing: Packing, mode: u32) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            // A descriptor of its own: standard output stays open.
            let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            return Self::new(Packing::Plain, file, None);
        }
        // What a link leads to is replaced, not the link.
        let (path, written) = output_place(path)?;
        if written {
            return Self::new(packing, OpenOptions::new().write(true).open(path)?, None);
        }
        let new = NewFile::create(&path, ".topas-new-", mode)?;
        Self::new(packing, new.file.try_clone()?, Some(new))
    }

    fn new(packing: Packing, file: File, new: Option<NewFile>) -> io::Result<Self> {
        Ok(Output { encoder: Encoder::new(packing, BufWriter::with_capacity(1 << 18, file))?, new })
    }

    /// Makes the file visible, once all of it is on the disk.
    ///
    /// # Errors
    ///
    /// What writing says; a file that was there before still is.
    pub fn finish(self) -> io::Result<()> {
        self.encoder.finish()?.flush()?;
        let Some(new) = self.new else { return Ok(()) };
        if let Ok(before) = fs::metadata(&new.path) {
            take_after(&new.file, &before)?;
        }
        new.commit()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.writer().write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.encoder.writer().write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.writer().flush()
    }
}

/// The directory a file is in.
pub(crate) fn directory(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Owner, group and mode of the file before. Its mode is for its owner and group: where they
/// cannot be given away, the file stays its maker's alone.
pub(crate) fn take_after(file: &File, before: &fs::Metadata) -> io::Result<()> {
    let now = file.metadata()?;
    let same = (now.uid(), now.gid()) == (before.uid(), before.gid());
    if same || fchown(file, Some(before.uid()), Some(before.gid())).is_ok() {
        file.set_permissions(Permissions::from_mode(before.mode() & 0o777))?;
    }
    Ok(())
}

/// Gives a nameless file a name, in place of a file that has it.
fn give_name(file: &File, path: &Path, prefix: &str) -> io::Result<()> {
    let own = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let cwd = nix::fcntl::AT_FDCWD;
    // A link cannot replace a file, so it gets another name first; a random one, because
    // everybody may be allowed to make files there.
    let link = |fresh: &Path| {
        nix::unistd::linkat(cwd, &own, cwd, fresh, AtFlags::AT_SYMLINK_FOLLOW)?;
        Ok(())
    };
    let fresh = tempfile::Builder::new().prefix(prefix).make_in(directory(path), link)?;
    fresh.into_temp_path().persist(path).map_err(|e| e.error)
}
