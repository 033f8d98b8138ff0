//! What is told of a profile: records of lines for the center's log and the user's data file, and
//! the table for people.

use topas_format::civil::Civil;
use topas_format::conf::{List, Switch};
use topas_format::form::Values;
use topas_format::out::Out;
use topas_format::target::{self, TargetKind};
use topas_format::text::{Cursor, trim};
use topas_mpi_profile::figure::{Also, figure};
use topas_mpi_profile::layout::{Block, Bridges, Header, Row};
use topas_mpi_profile::lines::{End, Facts, Head, Lines, Of, SpawnedWorld, text};
use topas_mpi_profile::routine;
use topas_mpi_profile::sums::{Sums, TickLength, histogram};
use topas_node::log::{TAG, write_to};
use topas_node::program::utc_offset;
use topas_node::sys as kernel;

use crate::files::{self, File, Own};
use crate::workspace::{CHUNK, Kept, kept};
use crate::{processor, say, site, spool};

/// The moment of a record, in the zone of the site.
pub struct Now {
    epoch: u64,
    local: u64,
}

impl Now {
    /// Now.
    pub fn new(file: &mut [u8]) -> Now {
        let epoch = kernel::clock(kernel::REAL_TIME) / 1_000_000;
        Now { epoch, local: epoch.wrapping_add_signed(utc_offset(epoch as i64, file)) }
    }

    /// Seconds in the zone of the site.
    pub const fn local(&self) -> u64 {
        self.local
    }
}

/// What a record is of.
pub struct ProfileRecord<'a> {
    /// What is known of the process
    pub header: &'a Header,
    /// When
    pub now: &'a Now,
    /// Of what
    pub of: Of,
    /// Number of the subtotal; 0 for a total
    pub subtotal: u32,
    /// There is no record of all ranks that tells what is the same for all
    pub alone: bool,
}

impl ProfileRecord<'_> {
    fn head(&self) -> Head<'_> {
        Head {
            at: Civil::from_seconds(self.now.local as i64),
            user: text(&self.header.user),
            exe: text(&self.header.exe),
            npes: self.header.ranks,
            id: text(&self.header.id),
            of: self.of,
            subtotal: self.subtotal,
        }
    }

    fn facts(&self) -> Facts<'_> {
        let header = self.header;
        Facts {
            epoch: self.now.epoch,
            uid: header.uid,
            host: text(&header.host),
            job: text(&header.job),
            step: text(&header.step),
            part: text(&header.part),
            mpi: text(&header.mpi),
            end: if self.subtotal == 0 { End::Finalize } else { End::Running },
            rank: (self.of == Of::Rank).then_some((header.rank, header.pid)),
            before: header.before,
            spawned: SpawnedWorld::of(header),
            launcher: header.worlds.launcher,
            counters: &header.counters,
        }
    }

    /// Its lines.
    pub fn lines(&self, sums: &Sums, sink: &mut dyn FnMut(&[u8])) {
        let header = self.header;
        let mut more = |lines: &mut Lines<'_>| {
            if self.of == Of::Rank {
                details(lines, header);
                paths(lines, header);
            } else {
                lines.sizes_by_class(sums);
            }
            if self.of != Of::Rank || self.alone {
                lines.switches(&header.switches);
            }
        };
        topas_mpi_profile::lines::record(&self.head(), &self.facts(), sums, &mut more, sink);
    }

    /// The table for people.
    fn figure(&self, sums: &Sums, sink: &mut dyn FnMut(&[u8])) {
        let command = kept().map_or(&[][..], |kept| text(&kept.command));
        let also = Also { command, switches: &self.header.switches };
        figure(&self.head(), &self.facts(), sums, &also, sink);
    }

    /// What names of files and targets stand for.
    fn values(&self) -> Values<'_> {
        files::values(self.header, self.now.local)
    }
}

/// Opens a file of the user's for a record; its path goes to `path`, with a NUL. Says so if that
/// cannot be.
pub fn open_own(record: &ProfileRecord<'_>, file: File, path: &mut [u8]) -> Option<Own> {
    files::open(record.header, record.now.local, file, path)
}

/// What only the rank itself has: message sizes by function, communicators, peers.
fn details(lines: &mut Lines<'_>, header: &Header) {
    let tick = TickLength::of(header);
    lines.started(&header.worlds, &header.began, &tick);
    blamed(lines, header, &tick);
    for block in spool::blocks() {
        for (number, beside) in block.beside.iter().enumerate() {
            for (way, which) in [(b's', beside.sent), (b'r', beside.received)] {
                if let Some(bins) = histogram(block, which) {
                    lines.sizes_of(number, way, bins);
                }
            }
        }
    }
    for block in spool::blocks() {
        communicators(lines, block, &tick);
        if let Some(peers) = spool::peers(header, block) {
            for (rank, peer) in peers.iter().enumerate() {
                if peer.sends > 0 || peer.receives > 0 {
                    let rank = u32::try_from(rank).ok().filter(|rank| *rank < header.ranks);
                    lines.peer(rank, peer);
                }
            }
        }
    }
}

/// Call paths, thread by thread.
fn paths(lines: &mut Lines<'_>, header: &Header) {
    let tick = TickLength::of(header);
    let mut modules = 0;
    for block in spool::blocks() {
        if let Some(table) = spool::paths(block) {
            modules = lines.paths(table, spool::path_functions(table), modules, &tick);
        }
    }
    for partner in spool::partners().unwrap_or_default() {
        lines.partner(partner, &tick);
    }
}

/// Ranks to blame for waits of this one.
fn blamed(lines: &mut Lines<'_>, header: &Header, tick: &TickLength) {
    let peers = spool::waits().and_then(|waits| spool::wait_peers(header, waits));
    for (rank, peer) in (0..).zip(peers.unwrap_or_default()) {
        lines.blamed(rank, peer, tick);
        lines.asked(rank, peer, tick);
    }
    for outsider in spool::bridges().map_or(&[][..], Bridges::outsiders) {
        lines.blamed_outside(outsider, tick);
    }
}

fn communicators(lines: &mut Lines<'_>, block: &Block, tick: &TickLength) {
    let Some(all) = spool::communicators() else { return };
    let others = all.len() - 1;
    for (place, (communicator, traffic)) in all.iter().zip(&block.traffic).enumerate() {
        if traffic.calls == 0 && traffic.peer.sends == 0 && traffic.peer.receives == 0 {
            continue;
        }
        let mut name = text(&communicator.name);
        if name.is_empty() {
            let maker = usize::from(communicator.maker).checked_sub(1);
            name = maker.map_or(&b"-"[..], routine::name);
        }
        if place == others {
            name = b"others";
        }
        lines.communicator(name, communicator.kind, communicator.size, traffic, tick);
    }
}

/// Sums of this rank, in place of what was there. `ended` is the tick at which counting ended,
/// `finalize` are the ticks in `MPI_Finalize` until all ranks were there, which no row has yet.
pub fn own_sums(sums: &mut Sums, header: &Header, ended: u64, finalize: Option<u64>) {
    sums.clear();
    let tick = TickLength::of(header);
    let mut busiest = 0;
    for block in spool::blocks() {
        busiest = busiest.max(sums.thread(block, &tick));
    }
    if let Some(ticks) = finalize {
        let number = crate::generated::number::FINALIZE;
        // Of Fortran's the call has been counted already, when it came.
        let counted = sums.routines.get(number).is_some_and(|routine| routine.calls > 0);
        let row = Row { calls: u64::from(!counted), ticks, longest: ticks, ..Row::default() };
        busiest += sums.row(number, &row, &Default::default(), &tick);
    }
    if let Some(waits) = spool::waits() {
        sums.wait_rows(waits, &tick);
    }
    sums.rank(header, ended, busiest, &tick);
    processor::add(sums);
}

/// Lines that are gathered until they are worth a call.
pub struct Gathered<'r> {
    room: &'r mut [u8; CHUNK],
    len: usize,
}

impl<'r> Gathered<'r> {
    /// Nothing yet.
    pub fn new(room: &'r mut [u8; CHUNK]) -> Self {
        Gathered { room, len: 0 }
    }

    /// Takes a line; if there is no room for it, hands over what was there before.
    pub fn line(&mut self, line: &[u8], flush: &mut dyn FnMut(&[u8])) {
        if self.len + line.len() > CHUNK {
            self.flush(flush);
        }
        if let Some(place) = self.room.get_mut(self.len..self.len + line.len()) {
            place.copy_from_slice(line);
            self.len += line.len();
        }
    }

    /// Hands over what is there.
    pub fn flush(&mut self, flush: &mut dyn FnMut(&[u8])) {
        if self.len > 0 {
            flush(self.room.get(..self.len).unwrap_or_default());
            self.len = 0;
        }
    }
}

/// Writes a record to the log of the center: the first target that takes it.
pub fn to_center(
    record: &ProfileRecord<'_>,
    sums: &Sums,
    conf: &mut [u8],
    path: &mut [u8],
    room: &mut [u8; CHUNK],
    tagged: &mut [u8],
) {
    let Some(kept) = kept() else { return };
    // Again: the site may have changed its mind.
    let Some(site) = site::read(conf, path) else { return };
    if !site::wants(&site, record.header, kept) {
        return;
    }
    let mut own = text(&kept.log);
    if !site.settings.is(Switch::UserLog) {
        own = b"";
    }
    let targets = site.settings.list(List::Log);
    let mut center = Center { own, targets, record, kept, tagged };
    let mut gathered = Gathered::new(room);
    record.lines(sums, &mut |line| gathered.line(line, &mut |lines| center.take(lines)));
    gathered.flush(&mut |lines| center.take(lines));
}

/// The targets of the log.
struct Center<'a> {
    /// Those of the user that are still to be tried
    own: &'a [u8],
    /// Those of the site that are tried then: what a user got wrong is not lost to it
    targets: &'a [u8],
    record: &'a ProfileRecord<'a>,
    kept: &'a Kept,
    tagged: &'a mut [u8],
}

impl Center<'_> {
    /// Writes lines to the first target that takes them. What follows goes to the same.
    fn take(&mut self, lines: &[u8]) {
        loop {
            let is_own = !trim(self.own).is_empty();
            let mut text = Cursor::new(trim(if is_own { self.own } else { self.targets }));
            let target = text.until(b' ');
            let error = self.write(target, lines);
            if error == 0 {
                return;
            }
            let rest = trim(text.rest);
            // This process writes for the whole launch, so that one says it.
            if self.kept.verbose || is_own && rest.is_empty() {
                say::not_written(target, error);
            }
            if is_own {
                self.own = rest;
                continue;
            }
            self.targets = rest;
            if rest.is_empty() {
                return;
            }
        }
    }

    fn write(&mut self, target: &[u8], lines: &[u8]) -> i32 {
        let mut values = self.record.values();
        if target::kind(target).0 == TargetKind::File {
            return write_tagged(target, &mut values, lines, self.tagged);
        }
        // A datagram for each line.
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let error = write_tagged(target, &mut values, line, self.tagged);
            if error != 0 {
                return error;
            }
        }
        0
    }
}

/// Writes lines, behind a tag where the target wants one: an error number, 0 if they were taken.
fn write_tagged(target: &[u8], values: &mut Values<'_>, lines: &[u8], room: &mut [u8]) -> i32 {
    let mut out = Out::new(room);
    out.put(TAG).put(lines);
    if out.is_cut() {
        return kernel::ENOSPC;
    }
    write_to(target, values, out.text(), say::room)
}

/// Appends the table of a record to the user's file.
pub fn to_table(record: &ProfileRecord<'_>, sums: &Sums, path: &mut [u8], room: &mut [u8; CHUNK]) {
    let Some(own) = open_own(record, File::Table, path) else { return };
    let mut gathered = Gathered::new(room);
    let mut good = true;
    let mut write = |lines: &[u8]| good = good && own.append(path, lines);
    record.figure(sums, &mut |line| gathered.line(line, &mut write));
    gathered.flush(&mut write);
    own.close();
}
