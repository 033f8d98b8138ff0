//! Requests that calls complete, and those that the program frees or cancels.

use topas_mpi_waits::engine::WaitingCall;
use topas_mpi_waits::key::Address;
use topas_mpi_waits::protocol::counted;
use topas_mpi_waits::wait::Call;

use super::{away, bridges, collectives, is_on, partners, quick, told, with};
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::mode::{self, paused};
use crate::requests::{RequestEntry, flag};
use crate::trace;

/// A call that completed requests.
pub struct Completions {
    call: Call,
    waiting: Option<WaitingCall>,
    /// Something was completed at once, of which nothing else is to be said
    at_once: bool,
    /// Some of that was received
    receives: bool,
    /// The message whose receiver it may have waited for; on no communicator if there is none
    sent: Address,
    /// It is known that the call waited for this one, and longest
    is_known: bool,
}

impl Completions {
    /// The call, which asked for requests and completed none.
    pub const fn call(&self) -> &Call {
        &self.call
    }

    /// Of a call of this function that lasted from one tick to another.
    #[inline(always)]
    pub fn of(function: usize, began: u64, ended: u64) -> Completions {
        // SAFETY: the variables of this thread, which has a block: it is in a call.
        let thread = unsafe { &*crate::arch::thread() };
        let function = partners::call_with(function, thread);
        let call = away::over(thread.block, Call { function, counts: !paused(), began, ended });
        Completions {
            call,
            waiting: None,
            at_once: false,
            receives: false,
            sent: Address::default(),
            is_known: false,
        }
    }
}

/// The call completed a request; `status` is its status, or `MPI_STATUS_IGNORE`.
#[inline(always)]
pub fn completed(
    library: &Library,
    ledger: &mut Ledger,
    all: &mut Completions,
    entry: &RequestEntry,
    status: usize,
) {
    let id = post_of(entry);
    if id == 0 {
        return;
    }
    if entry.flags & flag::CANCELLED == 0
        && let Some(receives) = quick::completed(&all.call, id)
    {
        all.at_once = true;
        all.receives |= receives;
        return;
    }
    completed_by_rules(library, ledger, all, entry, status);
}

#[inline(never)]
fn completed_by_rules(
    library: &Library,
    ledger: &mut Ledger,
    all: &mut Completions,
    entry: &RequestEntry,
    status: usize,
) {
    let id = post_of(entry);
    let status = (status != library.status_ignore).then_some(status as *const u8);
    let cancelled = entry.flags & flag::CANCELLED != 0
        // SAFETY: a status that the call has written.
        && status.is_some_and(|at| unsafe { library::is_cancelled(library.length, at) });
    if cancelled {
        return with(|engine, _, boards| engine.cancelled(boards, id));
    }
    let wild = with(|engine, _, _| engine.wild(id).map(|post| (post.handle, post.generation)));
    let from = match (wild, status) {
        // If the communicator is gone, so is the meaning of the rank.
        (Some((handle, known)), Some(status)) if generation(place(handle)) == known => {
            // SAFETY: as above.
            unsafe { told(library, ledger, handle, status) }
        }
        _ => None,
    };
    // SAFETY: a status that the call has written.
    let bytes = status.map_or(0, |status| unsafe { library::bytes_in(library.length, status) });
    let call = all.call;
    if let Some(post) = with(|engine, _, _| engine.collective(id)) {
        let Some(mut now) = all.waiting.take().or_else(|| with(|e, _, _| Some(e.begin(call))))
        else {
            return;
        };
        with(|engine, _, _| engine.found(&mut now, id));
        collectives::completed(library, ledger, &mut now, &post);
        with(|engine, _, _| engine.collective_completed(id));
        all.waiting = Some(now);
        return;
    }
    with(|engine, _, boards| {
        let mut now = all.waiting.take().unwrap_or_else(|| engine.begin(call));
        let sent = engine
            .sent_by(id)
            .filter(|(to, _)| mode::has(mode::LOG) && call.counts && !bridges::is_beside(to.peer));
        let before = now.longest();
        engine.found(&mut now, id);
        engine.completed(boards, &mut now, id, (from.as_ref(), counted(bytes)));
        let longest = now.longest();
        all.waiting = Some(now);
        // What is not known yet may turn out to be the longest wait, but what is known stays.
        let is_first = all.sent.comm == 0;
        if let Some((sent, large)) = sent
            && (longest > before || !all.is_known && (large || is_first))
        {
            (all.sent, all.is_known) = (sent, longest > before);
        }
    });
}

/// All that the call completed was told.
#[inline(always)]
pub fn end(all: &mut Completions) {
    if let Some(waiting) = &mut all.waiting {
        with(|engine, _, boards| {
            if all.receives {
                engine.receives(waiting);
            }
            engine.end(boards, *waiting);
        });
        if all.sent.comm != 0 {
            trace::completed_send(&all.sent, all.call.began);
        }
    } else if all.at_once {
        with(|engine, _, boards| engine.below(boards, &all.call));
    }
}

/// The number of the post of a request; 0 if it has none.
#[inline(always)]
pub fn post_of(entry: &RequestEntry) -> u32 {
    entry.flags >> flag::POST_AT
}

/// A request is freed: nobody will tell how it ends.
#[cold]
pub fn freed(entry: &RequestEntry) {
    if is_on() && post_of(entry) != 0 {
        with(|engine, _, _| engine.freed(post_of(entry)));
    }
}

/// The program tries to cancel a request.
#[cold]
pub fn cancelled(entry: &RequestEntry) {
    if is_on() && post_of(entry) != 0 {
        with(|engine, _, _| engine.cancel(post_of(entry)));
    }
}
