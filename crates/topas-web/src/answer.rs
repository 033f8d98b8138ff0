//! Answers requests.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use maud::Markup;
use topas_findings::Rules;
use topas_store::{Store, StoreError, StoredRun, find_run};

use crate::access::{Roles, Viewer};
use crate::all_pes::FindAllPes;
use crate::asked::{Asked, of_run_name};
use crate::sign_in::{COOKIE, SESSION_TIME, SignIn};
use crate::{layout, metrics, run_page, runs_page};

/// Opens the store once more, for a request at the same time as others.
pub type OpenStore = Box<dyn Fn() -> Result<Box<dyn Store + Send>, StoreError> + Send + Sync>;

/// Stores that are open and wait for a request.
const KEPT: usize = 8;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status of HTTP
    pub status: u16,
    /// The content
    pub content: String,
    /// Type of the content
    pub kind: &'static str,
    /// More headers
    pub headers: Vec<(&'static str, String)>,
}

impl Answer {
    pub(crate) fn page(status: u16, markup: Markup) -> Self {
        let kind = "text/html; charset=utf-8";
        Answer { status, content: markup.into_string(), kind, headers: Vec::new() }
    }

    pub(crate) fn data(kind: &'static str, content: String, file: &str) -> Self {
        let name = format!("attachment; filename=\"{file}\"");
        Answer { status: 200, content, kind, headers: vec![("content-disposition", name)] }
    }

    fn problem(status: u16, title: &str, what: &str) -> Self {
        Answer::page(status, layout::problem(title, what))
    }

    fn to(place: &str) -> Self {
        let headers = vec![("location", place.to_owned())];
        Answer { status: 303, content: String::new(), kind: "text/plain", headers }
    }
}

/// What is needed to answer.
pub struct Web {
    /// Who asks
    pub sign_in: SignIn,
    /// Who may see what
    pub roles: Roles,
    /// What is said of a run
    pub rules: Rules,
    /// The lines of all PEs of a run
    pub all_pes: FindAllPes,
    /// The store
    pub open: OpenStore,
    /// Addresses that may read `/metrics` without an account
    pub monitors: Vec<IpAddr>,
    /// Whether cookies are only for encrypted connections
    pub encrypted: bool,
    /// Notes what staff looks at
    pub note: Box<dyn Fn(&str) + Send + Sync>,
    /// The numeric id of an account of this machine
    pub uid_of: fn(&str) -> Option<u32>,
    /// Stores that wait
    pub waiting: Mutex<Vec<Box<dyn Store + Send>>>,
}

impl Web {
    /// Answers a request: every request has an answer.
    pub fn answer(&self, asked: &Asked) -> Answer {
        let store = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut store = match store.map_or_else(|| (self.open)(), Ok) {
            Ok(store) => store,
            Err(error) => return self.failed(&error),
        };
        match self.answer_from(&mut *store, asked) {
            Ok(answer) => {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                if waiting.len() < KEPT {
                    waiting.push(store);
                }
                answer
            }
            Err(error) => self.failed(&error),
        }
    }

    /// What is wrong is for the log of the server: users learn that something is.
    fn failed(&self, error: &StoreError) -> Answer {
        let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        (self.note)(&format!("error {error}: {cause}"));
        Answer::problem(503, "No answer now", "The store of runs cannot be read at the moment.")
    }

    /// Who is signed in.
    fn viewer(&self, asked: &Asked) -> Option<Viewer> {
        let headers: Vec<&str> = asked.accounts.iter().map(String::as_str).collect();
        let by_proxy = self.sign_in.by_proxy(asked.peer, &headers);
        let by_session = || self.sign_in.by_session(asked.session.as_deref()?);
        let account = by_proxy.or_else(by_session)?;
        Some(self.roles.viewer(&account, self.uid_of))
    }

    fn answer_from(&self, store: &mut dyn Store, asked: &Asked) -> Result<Answer, StoreError> {
        match asked.path.as_str() {
            "/style.css" => {
                let (content, kind) = (layout::style(), "text/css; charset=utf-8");
                return Ok(Answer { status: 200, content, kind, headers: Vec::new() });
            }
            "/metrics" => return self.metrics(store, asked),
            "/sign-in" => return Ok(self.signed_in(asked)),
            _ => {}
        }
        let Some(viewer) = self.viewer(asked) else {
            let what = "Sign in through the pages of your center, or ask its staff for a link.";
            return Ok(Answer::problem(401, "Not signed in", what));
        };
        let not_found = || {
            Answer::problem(404, "Not here", "There is no such page, or it is not yours to see.")
        };
        match asked.path.as_str() {
            "/" => Ok(Answer::to("/runs")),
            "/runs" | "/runs.json" | "/runs.csv" => {
                let answer = runs_page::answer(self, store, &viewer, asked)?;
                Ok(answer.unwrap_or_else(not_found))
            }
            "/compare" => {
                let named = |name| asked.value(name).and_then(of_run_name);
                let (Some(one), Some(other)) = (named("a"), named("b")) else {
                    return Ok(not_found());
                };
                let one = self.run(store, &viewer, one)?;
                let other = self.run(store, &viewer, other)?;
                let (Some(one), Some(other)) = (one, other) else { return Ok(not_found()) };
                Ok(run_page::compared(&viewer, &one, &other).unwrap_or_else(not_found))
            }
            path => {
                let Some(rest) = path.strip_prefix("/run/") else { return Ok(not_found()) };
                let (name, form) = match rest.strip_suffix(".json") {
                    Some(name) => (name, "json"),
                    None => rest.strip_suffix(".csv").map_or((rest, ""), |name| (name, "csv")),
                };
                let Some(name) = of_run_name(name) else { return Ok(not_found()) };
                let Some(run) = self.run(store, &viewer, name)? else { return Ok(not_found()) };
                let answer = run_page::answer(self, store, &viewer, &run, form)?;
                Ok(answer.unwrap_or_else(not_found))
            }
        }
    }

    /// A run that the viewer may see. One that is of somebody else is noted.
    fn run(
        &self,
        store: &mut dyn Store,
        viewer: &Viewer,
        (launch, id): (i64, i64),
    ) -> Result<Option<StoredRun>, StoreError> {
        let run = find_run(store, launch, id)?;
        let run = run.filter(|run| viewer.may_see(&run.owner, &run.user));
        if let Some(run) = run.as_ref().filter(|run| viewer.is_of_other(&run.owner, &run.user)) {
            self.note_view(viewer, &format!("run {launch:016x}.{id:016x} of {}", run.user));
        }
        Ok(run)
    }

    /// Notes that somebody looked at what is not the own.
    pub(crate) fn note_view(&self, viewer: &Viewer, what: &str) {
        (self.note)(&format!("view by {} ({}): {what}", viewer.name, viewer.role.word()));
    }

    fn metrics(&self, store: &mut dyn Store, asked: &Asked) -> Result<Answer, StoreError> {
        let known = asked.peer.is_some_and(|peer| self.monitors.contains(&peer.to_canonical()));
        let viewer = self.viewer(asked);
        if !known && viewer.is_none_or(|viewer| viewer.role < crate::ViewerRole::Administrator) {
            return Ok(Answer::problem(
                403,
                "Not allowed",
                "These numbers are for administrators.",
            ));
        }
        let content = metrics::text(store)?;
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        Ok(Answer { status: 200, content, kind, headers: Vec::new() })
    }

    fn signed_in(&self, asked: &Asked) -> Answer {
        let account = asked.value("token").and_then(|token| self.sign_in.by_link(token));
        let Some(session) = account.and_then(|account| self.sign_in.session(&account)) else {
            let what = "A link works once and for ten minutes. Ask for a new one.";
            return Answer::problem(401, "This link does not work", what);
        };
        let secure = if self.encrypted { "; Secure" } else { "" };
        let cookie = format!(
            "{COOKIE}={session}; Path=/; Max-Age={SESSION_TIME}; HttpOnly; SameSite=Lax{secure}"
        );
        let mut answer = Answer::to("/runs");
        answer.headers.push(("set-cookie", cookie));
        answer
    }
}
