//! What a rank did when it ended, in the lines of a record.

use topas_format::out::Out;

use super::Lines;
use crate::digits::seconds;
use crate::routine::name;

/// A call in which a thread was when its rank ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// Number of the function
    pub function: usize,
    /// For how long, in ns; None if nobody noted it
    pub nanoseconds: Option<u64>,
    /// Number of its call path in the record; 0 if it is not known
    pub path: u32,
    /// The rank that it named, and whether that is one of the world
    pub peer: Option<(i32, bool)>,
    /// The tag of the message that it named; less than 0 for any. None if it named none
    pub tag: Option<i32>,
}

/// The last that is known of a rank; times in ns since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastMoment {
    /// When its first call began
    pub began: u64,
    /// When its last call began
    pub last_call: u64,
    /// The second in which its process ended; None if nobody noted it
    pub died: Option<u64>,
    /// Number of the function of its last call; None if it is not known
    pub function: Option<usize>,
    /// Number of the call path of this call in the record; 0 if it is not known
    pub path: u32,
    /// How many ranks ended after it on its node; None if nobody noted it
    pub ended_after: Option<u32>,
}

/// What is open of a message between a rank that waits and another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenSide {
    /// The rank has posted a receive, and the message has not been sent
    Awaited,
    /// The message was sent to the rank, which has not posted a receive
    Untaken,
    /// The rank has sent it, and no receive was posted
    Unreceived,
}

impl OpenSide {
    /// All of them.
    pub const ALL: [OpenSide; 3] = [OpenSide::Awaited, OpenSide::Untaken, OpenSide::Unreceived];

    /// The letter in lines.
    pub const fn letter(self) -> u8 {
        match self {
            OpenSide::Awaited => b'a',
            OpenSide::Untaken => b't',
            OpenSide::Unreceived => b'r',
        }
    }
}

/// A message of which one side only knows, when its ranks ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenMessage {
    /// Which side
    pub side: OpenSide,
    /// The other rank of the world
    pub rank: u32,
    /// Its tag
    pub tag: i32,
    /// Its communicator, by a number that is 0 for that of the world; None if it is not known
    pub comm: Option<u32>,
}

/// Appends a number that may be less than 0.
fn signed<'o, 'b>(out: &'o mut Out<'b>, n: i32) -> &'o mut Out<'b> {
    if n < 0 {
        out.byte(b'-');
    }
    out.dec(n.unsigned_abs().into())
}

impl Lines<'_> {
    /// `o=SIDE:RANK:TAG[:COMM]`
    pub fn open_message(&mut self, message: &OpenMessage) {
        self.token(&mut |out| {
            out.put(b"o=").byte(message.side.letter()).byte(b':').dec(message.rank.into());
            signed(out.byte(b':'), message.tag);
            if let Some(comm) = message.comm {
                out.byte(b':').dec(comm.into());
            }
        });
    }

    /// `n=ROUTINE:SECONDS:PATH[:PEER[:[w][:TAG]]]`
    pub fn open_call(&mut self, call: &OpenCall) {
        self.token(&mut |out| {
            out.put(b"n=").put(name(call.function)).byte(b':');
            if let Some(nanoseconds) = call.nanoseconds {
                seconds(out, nanoseconds.into());
            }
            out.byte(b':').dec(call.path.into());
            if let Some((peer, of_world)) = call.peer {
                signed(out.byte(b':'), peer);
                if of_world || call.tag.is_some() {
                    out.put(if of_world { b":w" } else { b":" });
                }
                if let Some(tag) = call.tag {
                    signed(out.byte(b':'), tag);
                }
            }
        });
    }

    /// `z=BEGAN:LAST CALL:DIED:ROUTINE:PATH[:ENDED AFTER]`
    pub fn last_moment(&mut self, last: &LastMoment) {
        self.token(&mut |out| {
            seconds(out.put(b"z="), last.began.into());
            seconds(out.byte(b':'), last.last_call.into());
            out.byte(b':');
            if let Some(died) = last.died {
                out.dec(died);
            }
            out.byte(b':');
            if let Some(function) = last.function {
                out.put(name(function));
            }
            out.byte(b':').dec(last.path.into());
            if let Some(after) = last.ended_after {
                out.byte(b':').dec(after.into());
            }
        });
    }
}
