//! Calls that complete requests. The log does not tell which these are: it tells how many bytes came
//! by them, and what the messages were like. So a call completes the open requests that fit.

use super::{AsMeasured, Call, Completes, Engine, Found, Message, MessageKey, Open, Patience};

/// What is known of an open receive.
enum Candidate {
    Here(MessageKey, usize, Message),
    NotYet,
    Never,
}

impl Engine<'_, '_> {
    /// A call that completes requests: when it ends; None if that is not known yet.
    pub(super) fn complete(
        &mut self,
        lane: usize,
        call: &mut Call,
        which: Completes,
        patience: Patience,
    ) -> Option<f64> {
        match which {
            Completes::All => self.complete_all(lane, call, patience),
            _ => self.complete_some(lane, call, which, patience),
        }
    }

    /// A call that asked and got nothing that was received: a collective may have been complete.
    pub(super) fn tested(&mut self, lane: usize, call: &Call) -> f64 {
        let first = self.lanes[lane].open.iter().position(|request| match request.what {
            Open::Gathering(arrival, _) => self.gatherings.was_ready(&arrival, call.ended),
            Open::Receive { .. } => false,
        });
        match first {
            Some(number) => self.collective(lane, number).map_or(call.at, |end| end.max(call.at)),
            None => call.at,
        }
    }

    /// Completes the open collective with this number: when; None if not all have come.
    fn collective(&mut self, lane: usize, number: usize) -> Option<f64> {
        let Open::Gathering(arrival, cost) = self.lanes[lane].open.get(number)?.what else {
            return None;
        };
        let ready = self.gatherings.ready(&arrival);
        if ready.is_none() {
            self.gatherings.wait(arrival.key, lane);
        }
        let ready = ready?;
        self.gatherings.leave(&arrival);
        let request = self.lanes[lane].close(number);
        Some(request.at.max(ready) + cost)
    }

    /// The message of the open receive with this number.
    fn candidate(
        &mut self,
        lane: usize,
        number: usize,
        call: &Call,
        patience: Patience,
    ) -> Candidate {
        let Some(request) = self.lanes[lane].open.get(number).copied() else {
            return Candidate::Never;
        };
        if let Some(key) = request.key() {
            let place = self.lanes[lane].same_before(number, &key);
            return match self.find(lane, &key, place, call) {
                Found::Here(message) => Candidate::Here(key, place, message),
                Found::NotYet => Candidate::NotYet,
                Found::Never => Candidate::Never,
            };
        }
        let Open::Receive { communicator, source, tag } = request.what else {
            return Candidate::Never;
        };
        // Who may have sent it is decided when all have come to rest.
        if patience == Patience::Running {
            return Candidate::NotYet;
        }
        let limit = self.limit(lane, source, call.ended);
        match self.mailbox(lane).first(communicator, source, tag, 0, limit) {
            Some((key, message)) => Candidate::Here(key, 0, message),
            None => Candidate::NotYet,
        }
    }

    /// The message of an open receive is received: when.
    fn take(&mut self, lane: usize, number: usize, key: &MessageKey, place: usize) -> f64 {
        self.counts.received += 1;
        let message = self.mailbox(lane).take(key, place);
        let request = self.lanes[lane].close(number);
        message.map_or(request.at, |message| message.there)
    }

    /// All requests of a call: the open ones in the order in which they were started, as far as the
    /// bytes go that came.
    fn complete_all(&mut self, lane: usize, call: &mut Call, patience: Patience) -> Option<f64> {
        let wanted = call.arguments.received;
        let waits_for_empty = wanted == 0 && self.lanes[lane].sends.is_empty();
        while let Some(request) = self.lanes[lane].open.get(call.next).copied() {
            if let Open::Gathering(..) = request.what {
                match self.collective(lane, call.next) {
                    Some(end) => call.end = call.end.max(end),
                    None if patience == Patience::Forced => call.next += 1,
                    None => return None,
                }
                continue;
            }
            let needs = call.bytes < wanted || waits_for_empty;
            match self.candidate(lane, call.next, call, patience) {
                Candidate::Here(key, place, message)
                    if message.bytes <= wanted.saturating_sub(call.bytes) =>
                {
                    call.bytes += message.bytes;
                    call.end = call.end.max(self.take(lane, call.next, &key, place));
                }
                Candidate::NotYet if needs && patience != Patience::Forced => {
                    return None;
                }
                _ => call.next += 1,
            }
        }
        let own = &mut self.lanes[lane];
        // What was completed beside sends, which are over at once, has told when.
        let is_told = !own.sends.is_empty() || call.end > call.at || call.bytes > 0;
        own.sends.clear();
        let untold = own.take_untold(is_told.then_some(u64::MAX));
        own.untold.clear();
        let lacks = (call.bytes < wanted).then_some(AsMeasured::Unmatched);
        Some(match untold.or(lacks) {
            Some(why) => call.end.max(self.as_measured(call, why)),
            None => call.end,
        })
    }

    /// One request of a call, or some of them.
    fn complete_some(
        &mut self,
        lane: usize,
        call: &mut Call,
        which: Completes,
        patience: Patience,
    ) -> Option<f64> {
        let wanted = call.arguments.received;
        if wanted == 0 {
            return self.complete_empty(lane, call, patience);
        }
        while call.bytes < wanted {
            let rest = wanted - call.bytes;
            let mut best: Option<(usize, MessageKey, usize, Message)> = None;
            let mut undecided = false;
            for number in 0..self.lanes[lane].open.len() {
                match self.candidate(lane, number, call, patience) {
                    Candidate::Here(key, place, message)
                        if message.bytes == rest
                            || which == Completes::Some && message.bytes < rest =>
                    {
                        // Of a call for one request, the oldest that fits; of others, what was sent
                        // first.
                        let earlier =
                            best.as_ref().is_none_or(|(.., other)| message.real < other.real);
                        if earlier && (which != Completes::One || best.is_none()) {
                            best = Some((number, key, place, message));
                        }
                        if which == Completes::One && !undecided {
                            break;
                        }
                    }
                    Candidate::NotYet => undecided = true,
                    _ => {}
                }
            }
            if undecided && patience == Patience::Running {
                let first = best.as_ref().filter(|_| which == Completes::One);
                // Those before it may be what was completed.
                if first.is_none_or(|(number, ..)| *number > 0) {
                    return None;
                }
            }
            let Some((number, key, place, message)) = best else {
                if undecided && patience != Patience::Forced {
                    return None;
                }
                let end = self.as_measured(call, AsMeasured::Unmatched);
                return Some(call.end.max(end));
            };
            call.bytes += message.bytes;
            call.end = call.end.max(self.take(lane, number, &key, place));
        }
        Some(call.end)
    }

    /// A request by which nothing came: that of a send, of a collective or of an empty message,
    /// the oldest of these.
    fn complete_empty(&mut self, lane: usize, call: &Call, patience: Patience) -> Option<f64> {
        let mut oldest: Option<(u64, Option<usize>)> =
            self.lanes[lane].sends.front().map(|sequence| (*sequence, None));
        let mut undecided = false;
        for number in 0..self.lanes[lane].open.len() {
            let sequence = self.lanes[lane].open[number].sequence;
            if oldest.is_some_and(|(other, _)| other < sequence) {
                break;
            }
            let fits = match self.lanes[lane].open[number].what {
                Open::Gathering(..) => true,
                Open::Receive { .. } => match self.candidate(lane, number, call, patience) {
                    Candidate::Here(_, _, message) => message.bytes == 0,
                    Candidate::NotYet => {
                        undecided = true;
                        false
                    }
                    Candidate::Never => false,
                },
            };
            if fits {
                oldest = Some((sequence, Some(number)));
                break;
            }
        }
        if undecided && patience == Patience::Running && oldest.is_none() {
            return None;
        }
        if let Some(why) = self.lanes[lane].take_untold(oldest.map(|(sequence, _)| sequence)) {
            return Some(self.as_measured(call, why));
        }
        match oldest {
            None => Some(call.at),
            Some((_, None)) => {
                self.lanes[lane].sends.pop_front();
                Some(call.at)
            }
            Some((_, Some(number))) => {
                if let Open::Gathering(..) = self.lanes[lane].open[number].what {
                    match self.collective(lane, number) {
                        Some(end) => return Some(call.at.max(end)),
                        None if patience == Patience::Forced => {
                            self.lanes[lane].close(number);
                            return Some(self.as_measured(call, AsMeasured::Unmatched));
                        }
                        None => return None,
                    }
                }
                match self.candidate(lane, number, call, patience) {
                    Candidate::Here(key, place, _) => {
                        Some(call.at.max(self.take(lane, number, &key, place)))
                    }
                    _ => Some(call.at),
                }
            }
        }
    }
}
