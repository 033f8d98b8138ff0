//! Whether a command links an executable that can take the module.
//!
//! Pure: the command and what is known in, one of three answers out. Taking an
//! executable for something else costs a measurement; taking something else for an
//! executable could cost a build, so doubt means leaving the command alone.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::catalog::{Catalog, Language};
use crate::options::{COMPILER, Item, LINKER, Means, Reader};
use crate::response::{self, Response, Trouble};

mod reason;
mod target;

pub use reason::{LeftAlone, NotALink};

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Links an executable: the module is to be added.
    Link,
    /// Links an executable that must do without the module.
    LeaveAlone(LeftAlone),
    /// Asks how to link: the answer is to carry the module.
    Answer(Question),
    /// Does not link an executable.
    NotALink(NotALink),
}

/// What is asked of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The option that asks.
    pub option: OsString,
    /// Whether it asks for the whole command, not for what a link needs.
    pub command: bool,
    /// Whether there are inputs.
    pub inputs: bool,
}

/// What is known beside the arguments.
pub struct Facts<'a> {
    /// The content of `drivers.conf`.
    pub catalog: &'a Catalog,
    /// Variables that choose the compiler behind the driver, with their values.
    pub compilers: &'a [(&'a str, &'a OsStr)],
    /// Reads a response file.
    pub read: &'a dyn Fn(&OsStr) -> Response,
    /// Whether the driver answers questions on how to link.
    pub answers: bool,
    /// Whether programs that use the counters get the module, too.
    pub always: bool,
}

impl<'a> Facts<'a> {
    /// The facts where nobody has chosen anything.
    pub fn new(catalog: &'a Catalog, read: &'a dyn Fn(&OsStr) -> Response) -> Self {
        Facts { catalog, compilers: &[], read, answers: true, always: false }
    }
}

/// What a command says beside the decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The name of the result, if one is given.
    pub output: Option<OsString>,
    /// The objects the linker is given, as they are named.
    pub objects: Vec<OsString>,
    /// The language of the runtime libraries among the inputs.
    pub language: Option<Language>,
    /// The C library as an archive, in the word of the linker's command: what needs it must
    /// stand before it.
    pub archive: Option<OsString>,
    /// Whether libraries behind the arguments are archives.
    pub archives: bool,
}

/// Decides on the arguments of a compiler driver, without its name.
pub fn decide(args: &[OsString], facts: &Facts<'_>) -> Decision {
    examine(args, facts).0
}

/// Decides on the arguments of a compiler driver, and tells what else they say.
pub fn examine(args: &[OsString], facts: &Facts<'_>) -> (Decision, Seen) {
    scanned(args, facts, Scan::command).conclude()
}

/// The same for the arguments of a linker.
pub fn examine_linker(args: &[OsString], facts: &Facts<'_>) -> (Decision, Seen) {
    let mut scan = scanned(args, facts, Scan::linker);
    if !scan.has_libc {
        scan.leave(LeftAlone::NoLibc("ld".into()));
    }
    if !scan.has_start_file {
        scan.leave(LeftAlone::NoStartFiles("ld".into()));
    }
    scan.conclude()
}

fn scanned<'a>(
    args: &[OsString],
    facts: &'a Facts<'a>,
    read: fn(&mut Scan<'a>, &[OsString]),
) -> Scan<'a> {
    let mut scan = Scan::new(facts);
    match response::expand(args, facts.read) {
        Ok(words) => read(&mut scan, &words),
        Err(trouble) => {
            // What can be read may still say that nothing is linked.
            read(&mut scan, args);
            scan.trouble = Some(trouble);
        }
    }
    scan
}

/// What was seen so far.
struct Scan<'a> {
    facts: &'a Facts<'a>,
    /// The words as the linker gets them: inputs, libraries and its own options.
    linker: Vec<OsString>,
    seen: Seen,
    question: Option<Question>,
    trouble: Option<Trouble>,
    asks: Option<OsString>,
    stops: Option<OsString>,
    relocatable: Option<OsString>,
    shared: Option<OsString>,
    no_libc: Option<OsString>,
    other_width: Option<OsString>,
    target: Option<OsString>,
    has_libc: bool,
    has_start_file: bool,
    archives: bool,
    sources: usize,
    headers: usize,
    inputs: usize,
    header_language: bool,
    /// The first thing because of which the module must stay away.
    left_alone: Option<LeftAlone>,
}

impl<'a> Scan<'a> {
    fn new(facts: &'a Facts<'a>) -> Self {
        Scan {
            facts,
            linker: Vec::new(),
            seen: Seen::default(),
            question: None,
            trouble: None,
            asks: None,
            stops: None,
            relocatable: None,
            shared: None,
            no_libc: None,
            other_width: None,
            target: None,
            has_libc: false,
            has_start_file: false,
            archives: false,
            sources: 0,
            headers: 0,
            inputs: 0,
            header_language: false,
            left_alone: None,
        }
    }

    fn command(&mut self, words: &[OsString]) {
        for item in Reader::new(COMPILER, words) {
            match item {
                Item::Input(word) => self.compiler_input(word),
                Item::Option { word, means, argument } => self.option(word, means, argument),
                Item::Other(_) => {}
                Item::Dangling(word) => self.leave(LeftAlone::Dangling(word.to_owned())),
            }
        }
        for (variable, command) in self.facts.compilers {
            self.compiler(variable, command);
        }
        let linker = std::mem::take(&mut self.linker);
        self.linker(&linker);
    }

    fn linker(&mut self, words: &[OsString]) {
        for item in Reader::new(LINKER, words) {
            match item {
                Item::Input(word) => self.linker_input(word),
                Item::Option { word, means, argument } => {
                    self.linker_option(word, means, argument);
                }
                Item::Other(_) => {}
                Item::Dangling(word) => self.leave(LeftAlone::Dangling(word.to_owned())),
            }
        }
    }

    fn leave(&mut self, why: LeftAlone) {
        self.left_alone.get_or_insert(why);
    }

    fn option(&mut self, word: &OsStr, means: Means, argument: Option<&OsStr>) {
        let argument = argument.unwrap_or_default();
        let first = |slot: &mut Option<OsString>| {
            slot.get_or_insert_with(|| word.to_owned());
        };
        match means {
            Means::StopsBeforeLink => first(&mut self.stops),
            Means::Asks => first(&mut self.asks),
            Means::AsksCommand | Means::AsksLink if self.facts.answers => {
                let command = means == Means::AsksCommand;
                self.question.get_or_insert_with(|| Question {
                    option: word.to_owned(),
                    command,
                    inputs: false,
                });
            }
            Means::AsksCommand | Means::AsksLink => first(&mut self.asks),
            Means::Static => self.archives = true,
            Means::Dynamic => self.archives = false,
            Means::Output => self.seen.output = Some(argument.to_owned()),
            Means::Emulation if !target::is_our_emulation(argument) => {
                self.leave(LeftAlone::OtherWidth(argument.to_owned()));
            }
            Means::Relocatable => first(&mut self.relocatable),
            Means::SharedLibrary => first(&mut self.shared),
            Means::NoStartFiles => self.leave(LeftAlone::NoStartFiles(word.to_owned())),
            Means::NoLibc => first(&mut self.no_libc),
            // Of several, the last one holds.
            Means::OtherWidth => self.other_width = Some(word.to_owned()),
            Means::OwnWidth => self.other_width = None,
            Means::Target => {
                self.target = (!target::is_ours(argument)).then(|| argument.to_owned());
            }
            Means::Language => {
                self.header_language = argument.as_bytes().ends_with(b"-header");
            }
            Means::Library => self.library(argument),
            Means::LinkerWord => self.linker_words(&[argument.to_owned()]),
            Means::LinkerWords => {
                let words: Vec<_> = argument
                    .as_bytes()
                    .split(|&b| b == b',')
                    .filter(|word| !word.is_empty())
                    .map(|word| OsStr::from_bytes(word).to_owned())
                    .collect();
                self.linker_words(&words);
            }
            Means::Compiler => self.compiler(&word.to_string_lossy(), argument),
            Means::EndOfOptions => self.leave(LeftAlone::EndOfOptions),
            Means::Emulation | Means::RawOutput | Means::Nothing => {}
        }
    }

    fn linker_words(&mut self, words: &[OsString]) {
        match response::expand(words, self.facts.read) {
            Ok(words) => self.linker.extend(words),
            Err(trouble) => self.trouble = Some(trouble),
        }
    }

    fn linker_option(&mut self, word: &OsStr, means: Means, argument: Option<&OsStr>) {
        match means {
            Means::RawOutput if argument.is_some_and(|a| !a.as_bytes().starts_with(b"elf")) => {
                self.leave(LeftAlone::RawOutput(word.to_owned()));
            }
            Means::Library => self.library(argument.unwrap_or_default()),
            _ => self.option(word, means, argument),
        }
    }

    /// A library by name: `papi`, or `:libpapi.so.7` for a file of that name.
    fn library(&mut self, name: &OsStr) {
        let bytes = name.as_bytes();
        match bytes.strip_prefix(b":") {
            Some(file) => self.library_file(OsStr::from_bytes(file)),
            None => {
                if bytes == b"c" {
                    self.seen.archive = self.archives.then(|| "-lc".into());
                }
                self.library_name(bytes);
            }
        }
    }

    fn library_file(&mut self, path: &OsStr) {
        let name = Path::new(path).file_name().unwrap_or_default().as_bytes();
        let Some(rest) = name.strip_prefix(b"lib") else { return };
        let end = rest.iter().position(|&b| b == b'.').unwrap_or(rest.len());
        let (name, suffix) = rest.split_at(end);
        if suffix.starts_with(b".a") || suffix.starts_with(b".so") {
            self.library_name(name);
        }
    }

    fn library_name(&mut self, name: &[u8]) {
        self.has_libc |= name == b"c";
        if let Some(language) = self.facts.catalog.runtime(name) {
            self.seen.language = self.seen.language.max(Some(language));
        }
        if !self.facts.always && self.facts.catalog.uses_counters(name) {
            self.leave(LeftAlone::UsesCounters(OsStr::from_bytes(name).to_owned()));
        }
    }

    fn compiler(&mut self, by: &str, command: &OsStr) {
        if self.facts.catalog.lacks_wl(command) {
            self.leave(LeftAlone::Compiler { by: by.to_owned(), command: command.to_owned() });
        } else if let Some(triple) = target::foreign_compiler(command) {
            self.leave(LeftAlone::OtherTarget(triple));
        }
    }

    fn compiler_input(&mut self, word: &OsStr) {
        self.sources += 1;
        self.headers += usize::from(self.header_language || is_header(word));
        if word.len() > 1 && word.as_bytes().starts_with(b"-") {
            // A file behind `--`: the linker's options must not be seen in it.
            self.inputs += 1;
        } else {
            self.linker.push(word.to_owned());
        }
    }

    fn linker_input(&mut self, word: &OsStr) {
        self.inputs += 1;
        let path = Path::new(word);
        if is_module(path) {
            self.leave(LeftAlone::HasModule(word.to_owned()));
        }
        if path.extension() == Some(OsStr::new("o")) {
            self.has_start_file |= is_start_file(path);
            self.seen.objects.push(word.to_owned());
        }
        if path.file_name() == Some(OsStr::new("libc.a")) {
            self.seen.archive = Some(word.to_owned());
        }
        self.library_file(word);
    }

    fn conclude(mut self) -> (Decision, Seen) {
        let seen = Seen { archives: self.archives, ..std::mem::take(&mut self.seen) };
        (self.decision(), seen)
    }

    fn decision(self) -> Decision {
        let not = |why| Decision::NotALink(why);
        if let Some(option) = self.asks {
            return not(NotALink::Asks(option));
        }
        if let Some(option) = self.stops {
            return not(NotALink::StopsBeforeLink(option));
        }
        if self.inputs == 0 && self.trouble.is_none() && self.question.is_none() {
            return not(NotALink::NoInput);
        }
        if self.sources > 0 && self.headers == self.sources {
            return not(NotALink::OnlyHeaders);
        }
        if let Some(option) = self.relocatable {
            return not(NotALink::Relocatable(option));
        }
        if let Some(option) = self.shared {
            return not(NotALink::SharedLibrary(option));
        }
        let no_libc = self.no_libc.filter(|_| !self.has_libc).map(LeftAlone::NoLibc);
        let why = self
            .trouble
            .map(LeftAlone::ResponseFile)
            .or(self.left_alone)
            .or(no_libc)
            .or(self.target.map(LeftAlone::OtherTarget))
            .or(self.other_width.map(LeftAlone::OtherWidth));
        match (why, self.question) {
            (Some(why), _) => Decision::LeaveAlone(why),
            (None, Some(question)) => {
                Decision::Answer(Question { inputs: self.inputs > 0, ..question })
            }
            (None, None) => Decision::Link,
        }
    }
}

/// Whether a compiler given nothing but this makes a precompiled header.
fn is_header(word: &OsStr) -> bool {
    let suffix = Path::new(word).extension().unwrap_or_default();
    ["h", "H", "hh", "hp", "hpp", "HPP", "hxx", "h++", "tcc"].iter().any(|header| suffix == *header)
}

/// Whether this is the object that holds the entry point of a C program, in one of its forms.
fn is_start_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    ["crt1.o", "Scrt1.o", "rcrt1.o", "gcrt1.o", "grcrt1.o"].iter().any(|file| name == *file)
}

/// Whether this is a measurement module of some installation: a driver further out has
/// added it already.
fn is_module(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.starts_with(b"topas.")
        && name.ends_with(b".o")
        && path.parent().is_some_and(|dir| dir.ends_with("lib/topas"))
}
