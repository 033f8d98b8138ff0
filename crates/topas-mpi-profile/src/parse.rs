//! Reads lines of records. Tolerant of what is new: unknown keys are facts, unknown fields at
//! the end of tokens are left alone.

use topas_format::civil::{Civil, Date, Time};
use topas_format::escape::Name;
use topas_format::text::Cursor;

use crate::layout::{BINS, WAITED, object_kind};
use crate::lines::{Amount, Of, OpenMessage, SpawnedWorld, VERSION, WAITED_WORDS, WORD};
use crate::routine::{SizeClass, number};
use crate::sums::{WaitSums, WaitedSums};

mod ends;
mod paths;
mod worlds;

pub use ends::{LastSignToken, OpenCallToken};
pub use paths::{PartnerToken, PathToken};
pub use worlds::StartedWorldToken;
use worlds::hex;

/// Why a line is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileLineFault {
    /// Its third word is another.
    Other,
    /// Date or time are none.
    Time,
    /// One of the seven words at the beginning is missing.
    Short,
    /// It has another version.
    Version,
    /// Its length is not what it says: it was cut, or joined with another.
    Length,
    /// A token that is known has another form.
    Token,
}

impl ProfileLineFault {
    /// In words.
    pub const fn says(self) -> &'static str {
        match self {
            ProfileLineFault::Other => "no line of an MPI profile",
            ProfileLineFault::Time => "bad date or time",
            ProfileLineFault::Short => "too few words",
            ProfileLineFault::Version => "of another version",
            ProfileLineFault::Length => "not of the length it says",
            ProfileLineFault::Token => "bad token",
        }
    }
}

/// A line: its beginning; the rest by [`Line::tokens`].
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Local time of the site
    pub at: Civil,
    /// Name of the user
    pub user: Name<'a>,
    /// Executable
    pub exe: Name<'a>,
    /// Ranks of the launch; 0 if not known
    pub npes: u32,
    /// Launch id
    pub id: Name<'a>,
    /// What the record is of
    pub of: Of,
    /// Number of the subtotal; 0 for a total
    pub subtotal: u32,
    /// Number of this line in its record, from 1
    pub line: u32,
    /// Lines of the record
    pub lines: u32,
    tokens: &'a [u8],
}

/// Whether a line of a log is one of an MPI profile, by its third word.
pub fn is_profile(line: &[u8]) -> bool {
    let mut text = Cursor::new(line);
    text.until(b' ');
    text.until(b' ');
    text.until(b' ') == WORD
}

/// Messages, bytes and the like of a function, in the order of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routine<'a> {
    /// Its name without `MPI_`, as it stands
    pub name: &'a [u8],
    /// Its number, if this table has it
    pub number: Option<usize>,
    /// Calls
    pub calls: u128,
    /// Nanoseconds in them
    pub nanoseconds: u128,
    /// Nanoseconds of the longest
    pub longest: u64,
    /// Sum of count arguments
    pub count: Amount,
    /// Messages sent, blocks put or written
    pub sends: Amount,
    /// Bytes in them
    pub sent: Amount,
    /// Messages received, blocks got or read
    pub receives: Amount,
    /// Bytes in them
    pub received: Amount,
    /// Ranks that called it
    pub ranks: Option<u64>,
}

/// Of which messages a histogram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizesOf<'a> {
    /// Of a class
    Class(SizeClass),
    /// Of a function: its name without `MPI_`
    Routine(&'a [u8]),
}

/// Messages and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages sent
    pub sends: u128,
    /// Bytes in them
    pub sent: u128,
    /// Messages received
    pub receives: u128,
    /// Bytes in them
    pub received: u128,
}

/// A token of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Anything else: a key and its value
    Fact(&'a [u8], Name<'a>),
    /// `f=`
    Routine(Routine<'a>),
    /// `h=`; those of one name add up
    Sizes {
        /// Whose
        of: SizesOf<'a>,
        /// Of what was received, got, read
        received: bool,
        /// Messages by size
        bins: [u128; BINS],
    },
    /// `w=`
    Waited {
        /// A [`crate::layout::Waited`]
        kind: usize,
        /// Calls
        calls: u128,
        /// Nanoseconds in them
        nanoseconds: u128,
    },
    /// `u=`
    Unended {
        /// Name of the function
        name: &'a [u8],
        /// Calls that had not ended
        calls: u128,
        /// Nanoseconds in them, which the function has, too
        nanoseconds: u128,
    },
    /// `n=`
    OpenCall(OpenCallToken<'a>),
    /// `o=`
    OpenMessage(OpenMessage),
    /// `z=`
    LastSign(LastSignToken<'a>),
    /// `c=`; those of one kind, name and size add up
    Communicator {
        /// Name
        name: Name<'a>,
        /// What it is: see [`object_kind`]
        kind: u16,
        /// Processes
        size: Option<u32>,
        /// Calls
        calls: u128,
        /// Nanoseconds in them
        nanoseconds: u128,
        /// Messages and bytes
        traffic: Traffic,
    },
    /// `p=`; those of one rank add up
    Peer {
        /// Rank of the world; None are all others
        rank: Option<u32>,
        /// Messages and bytes
        traffic: Traffic,
    },
    /// `l=`
    Waits {
        /// Name of the function
        name: &'a [u8],
        /// Its number, if this table has it
        number: Option<usize>,
        /// Why its calls waited
        waits: WaitSums,
    },
    /// `b=`; those of one rank add up
    Blamed {
        /// Rank of the world
        rank: u32,
        /// Waits for which it is to blame: it sent late, received late, came late to a collective
        waits: [WaitedSums; 3],
    },
    /// `a=`; those of one rank add up
    Asked {
        /// Rank of the world
        rank: u32,
        /// How often, and for how long, the program paused between calls that asked in vain for what this rank had not begun
        between: WaitedSums,
        /// For as much of that the process slept, in ns
        slept: u128,
    },
    /// `bx=`; those of one rank of another world add up
    BlamedOutside {
        /// Id of the launch to which its world belongs
        launch: Name<'a>,
        /// That world started the one of the record; else it was started
        is_parent: bool,
        /// Its rank in its world
        rank: u32,
        /// Waits for which it is to blame, as in [`Token::Blamed`]
        waits: [WaitedSums; 3],
    },
    /// `e=`
    Switch {
        /// Name of the variable
        name: Name<'a>,
        /// Its value; None if it is not told
        value: Option<Name<'a>>,
    },
    /// `m=`
    Module {
        /// Its number in the record
        number: u32,
        /// Build id behind a `b`, hash of segments behind an `s`, or hash of a function behind a `p`
        id: &'a [u8],
        /// Its file
        file: Name<'a>,
        /// Of a function of Python its name
        function: Option<Name<'a>>,
    },
    /// `k=`
    Path(PathToken<'a>),
    /// `q=`
    Partner(PartnerToken),
    /// `spawned=`
    Spawned(SpawnedWorld),
    /// `launcher=`: the launcher of a world that started others
    Launcher(u64),
    /// `s=`
    Started(StartedWorldToken<'a>),
    /// `ci.` and `co.`
    Counter {
        /// Name of the counter
        name: Name<'a>,
        /// In calls of MPI, or outside of them
        inside: bool,
        /// Events
        count: u128,
    },
}

impl<'a> Line<'a> {
    /// Reads the beginning of a line, which may end with a newline.
    ///
    /// # Errors
    /// A [`ProfileLineFault`].
    pub fn parse(line: &'a [u8]) -> Result<Line<'a>, ProfileLineFault> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if !is_profile(line) {
            return Err(ProfileLineFault::Other);
        }
        let mut text = Cursor::new(line);
        let date = date(text.until(b' ')).ok_or(ProfileLineFault::Time)?;
        let time = time(text.until(b' ')).ok_or(ProfileLineFault::Time)?;
        text.until(b' ');
        let mut word =
            || Some(text.until(b' ')).filter(|w| !w.is_empty()).ok_or(ProfileLineFault::Short);
        let (user, exe, npes, id) = (word()?, word()?, word()?, word()?);
        let npes = match npes {
            b"-" => 0,
            npes => narrow(npes).ok_or(ProfileLineFault::Short)?,
        };
        let mut of = None;
        let (mut subtotal, mut place, mut version) = (0, None, None);
        let mut last: &[u8] = b"";
        for (key, value) in pairs(text.rest) {
            last = key;
            match key {
                b"v" => version = narrow(value),
                b"of" => {
                    let known = [Of::Run, Of::Host, Of::Rank];
                    of = known.into_iter().find(|of| of.word().as_bytes() == value);
                }
                b"at" => subtotal = narrow(value).ok_or(ProfileLineFault::Token)?,
                b"line" => {
                    let mut halves = Cursor::new(value);
                    let one = narrow(halves.until(b'/')).ok_or(ProfileLineFault::Token)?;
                    place = Some((one, narrow(halves.rest).ok_or(ProfileLineFault::Token)?));
                }
                b"len" if narrow(value) != u32::try_from(line.len()).ok() => {
                    return Err(ProfileLineFault::Length);
                }
                _ => {}
            }
        }
        if last != b"len" {
            return Err(ProfileLineFault::Length);
        }
        if version != Some(VERSION) {
            return Err(ProfileLineFault::Version);
        }
        let (line, lines) =
            place.filter(|(one, all)| (1..=*all).contains(one)).ok_or(ProfileLineFault::Token)?;
        Ok(Line {
            at: Civil { date, time },
            user: Name::from_token(user),
            exe: Name::from_token(exe),
            npes,
            id: Name::from_token(id),
            of: of.ok_or(ProfileLineFault::Token)?,
            subtotal,
            line,
            lines,
            tokens: text.rest,
        })
    }

    /// The tokens; without those that [`Line`] holds already, and `len`.
    pub fn tokens(
        &self,
    ) -> impl Iterator<Item = Result<Token<'a>, ProfileLineFault>> + Clone + use<'a> {
        pairs(self.tokens)
            .filter(|(key, _)| !matches!(*key, b"v" | b"of" | b"at" | b"line" | b"len"))
            .map(|(key, value)| token(key, value).ok_or(ProfileLineFault::Token))
    }
}

/// `key=value`, separated by blanks; a word without an equals sign is a key.
fn pairs(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> + Clone {
    text.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).map(|word| {
        let mut text = Cursor::new(word);
        let key = text.until(b'=');
        (key, text.rest)
    })
}

fn token<'a>(key: &'a [u8], value: &'a [u8]) -> Option<Token<'a>> {
    let mut fields = value.split(|byte| *byte == b':');
    Some(match key {
        b"f" => {
            let name = fields.next()?;
            Token::Routine(Routine {
                name,
                number: number(name),
                calls: whole(fields.next()?)?,
                nanoseconds: nanoseconds(fields.next()?)?,
                longest: u64::try_from(nanoseconds(fields.next()?)?).ok()?,
                count: amount(fields.next())?,
                sends: amount(fields.next())?,
                sent: amount(fields.next())?,
                receives: amount(fields.next())?,
                received: amount(fields.next())?,
                ranks: match fields.next() {
                    None | Some(b"") => None,
                    Some(ranks) => Some(u64::try_from(whole(ranks)?).ok()?),
                },
            })
        }
        b"h" => {
            let name = fields.next()?;
            let of = SizeClass::of_word(name).map_or(SizesOf::Routine(name), SizesOf::Class);
            let received = match fields.next()? {
                b"s" => false,
                b"r" => true,
                _ => return None,
            };
            let mut bins = [0; BINS];
            for bin in fields.next()?.split(|byte| *byte == b',') {
                let mut text = Cursor::new(bin);
                let place = narrow(text.until(b'='))?;
                *bins.get_mut(place as usize)? += whole(text.rest)?;
            }
            Token::Sizes { of, received, bins }
        }
        b"w" => {
            let word = fields.next()?;
            Token::Waited {
                kind: WAITED_WORDS.iter().position(|known| known.as_bytes() == word)?,
                calls: whole(fields.next()?)?,
                nanoseconds: nanoseconds(fields.next()?)?,
            }
        }
        b"u" => Token::Unended {
            name: fields.next()?,
            calls: whole(fields.next()?)?,
            nanoseconds: nanoseconds(fields.next()?)?,
        },
        b"n" => Token::OpenCall(OpenCallToken::read(&mut fields)?),
        b"o" => Token::OpenMessage(ends::open_message(&mut fields)?),
        b"z" => Token::LastSign(LastSignToken::read(&mut fields)?),
        b"c" => Token::Communicator {
            name: Name::from_token(fields.next()?),
            size: match fields.next()? {
                b"" | b"-" => None,
                size => Some(narrow(size)?),
            },
            calls: whole(fields.next()?)?,
            nanoseconds: nanoseconds(fields.next()?)?,
            traffic: traffic(&mut fields)?,
            kind: match fields.next() {
                None => object_kind::COMM,
                Some(word) => object_kind::of_word(word)?,
            },
        },
        b"p" => Token::Peer {
            rank: match fields.next()? {
                b"-" => None,
                rank => Some(narrow(rank)?),
            },
            traffic: traffic(&mut fields)?,
        },
        b"l" => {
            let name = fields.next()?;
            let mut waits = WaitSums::NONE;
            for figure in waits.figures_mut() {
                *figure = waited(&mut fields)?;
            }
            Token::Waits { name, number: number(name), waits }
        }
        b"b" => Token::Blamed {
            rank: narrow(fields.next()?)?,
            waits: [waited(&mut fields)?, waited(&mut fields)?, waited(&mut fields)?],
        },
        b"a" => {
            let (rank, between) = (narrow(fields.next()?)?, waited(&mut fields)?);
            Token::Asked { rank, between, slept: nanoseconds(fields.next()?)? }
        }
        b"bx" => Token::BlamedOutside {
            launch: Name::from_token(fields.next()?),
            is_parent: match fields.next()? {
                b"p" => true,
                b"c" => false,
                _ => return None,
            },
            rank: narrow(fields.next()?)?,
            waits: [waited(&mut fields)?, waited(&mut fields)?, waited(&mut fields)?],
        },
        b"e" => {
            let mut halves = value.splitn(2, |byte| *byte == b'=');
            Token::Switch {
                name: Name::from_token(halves.next().unwrap_or_default()),
                value: halves.next().map(Name::from_token),
            }
        }
        b"m" => Token::Module {
            number: narrow(fields.next()?)?,
            id: fields.next()?,
            file: Name::from_token(fields.next()?),
            function: fields.next().map(Name::from_token),
        },
        b"k" => Token::Path(PathToken::read(&mut fields)?),
        b"q" => Token::Partner(PartnerToken::read(&mut fields)?),
        b"spawned" => Token::Spawned(SpawnedWorld::read(&mut fields)?),
        b"launcher" => Token::Launcher(worlds::hex(fields.next()?)?),
        b"s" => Token::Started(StartedWorldToken::read(&mut fields)?),
        [b'c', way @ (b'i' | b'o'), b'.', name @ ..] => Token::Counter {
            name: Name::from_token(name),
            inside: *way == b'i',
            count: whole(value)?,
        },
        _ => Token::Fact(key, Name::from_token(value)),
    })
}

fn waited<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<WaitedSums> {
    Some(WaitedSums { calls: whole(fields.next()?)?, nanoseconds: nanoseconds(fields.next()?)? })
}

fn traffic<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Traffic> {
    Some(Traffic {
        sends: whole(fields.next()?)?,
        sent: whole(fields.next()?)?,
        receives: whole(fields.next()?)?,
        received: whole(fields.next()?)?,
    })
}

fn amount(field: Option<&[u8]>) -> Option<Amount> {
    Some(match field {
        None | Some(b"") => Amount::None,
        Some(b"-") => Amount::Missing,
        Some([digits @ .., b'+']) => Amount::AtLeast(whole(digits)?),
        Some(digits) => Amount::Exact(whole(digits)?),
    })
}

/// A decimal number of any size below 2^128. No sign, no blank.
pub fn whole(text: &[u8]) -> Option<u128> {
    let digit = |n: Option<u128>, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u128::from(byte - b'0'))?;
        n?.checked_mul(10)?.checked_add(digit)
    };
    if text.is_empty() { None } else { text.iter().fold(Some(0), digit) }
}

fn narrow(text: &[u8]) -> Option<u32> {
    whole(text).and_then(|n| u32::try_from(n).ok())
}

/// Seconds with up to nine decimals, as nanoseconds.
pub fn nanoseconds(text: &[u8]) -> Option<u128> {
    let mut halves = text.splitn(2, |byte| *byte == b'.');
    let seconds = whole(halves.next()?)?.checked_mul(1_000_000_000)?;
    let Some(decimals) = halves.next() else {
        return Some(seconds);
    };
    if decimals.len() > 9 {
        return None;
    }
    let missing = 9 - decimals.len() as u32;
    seconds.checked_add(whole(decimals)?.checked_mul(10u128.pow(missing))?)
}

fn date(text: &[u8]) -> Option<Date> {
    let mut parts = text.split(|byte| *byte == b'/');
    let mut part = |digits: usize| {
        let part = parts.next()?;
        (part.len() == digits).then(|| narrow(part))?
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    let date = Date { year: year as u16, month: month as u8, day: day as u8 };
    (parts.next().is_none() && year >= 1970 && date.exists()).then_some(date)
}

fn time(text: &[u8]) -> Option<Time> {
    let mut parts = text.split(|byte| *byte == b':');
    let mut part = |most: u32| {
        let part = parts.next()?;
        narrow(part).filter(|n| part.len() == 2 && *n <= most)
    };
    let (hour, minute, second) = (part(23)?, part(59)?, part(60)?);
    let time = Time { hour: hour as u8, minute: minute as u8, second: second as u8 };
    parts.next().is_none().then_some(time)
}

/// Kinds of requests that are waited for have a word each.
const _: () = assert!(WAITED_WORDS.len() == WAITED, "a kind of request has no word");
