//! `topas-report mail`: what each user's programs did in a week.
//!
//! ```text
//! log -> WeekReport (all users, one reading) -> notable runs -> findings \
//!     -> MPI profiles of the week ------------------------------------- WeekMail -> templates -> message
//! ```

mod args;
mod letter;
mod recipient;
mod send;
mod state;
mod template;
mod week;

pub use args::MailArgs;
pub use state::forget_mails;
pub use week::{available, calibration};

use topas_config::{Conf, Environment};
use topas_terminal::Printed;

use self::args::MailForm;
use self::letter::Letter;
use self::recipient::Recipients;
use self::send::Carrier;
use self::state::{MailState, Sending};
use self::template::Templates;
use self::week::MailWeek;
use crate::reading::ReportLog;
use crate::{TOOL, exit};

/// Makes the mails: the exit code. The Err is one whose reason has been said.
pub fn run(args: &MailArgs, env: &Environment, conf: &Conf) -> Result<u8, u8> {
    let templates = Templates::load(conf)?;
    let log = ReportLog::find(&args.reading, env)?;
    let carrier = match args.show {
        Some(_) => None,
        None => Some(Carrier::new(args)?),
    };
    let week = MailWeek::read(args, &log, env, conf)?;
    let chosen = week.chosen(&args.user);
    if chosen.is_empty() {
        let whose = if args.user.is_empty() { "" } else { " of the user" };
        TOOL.say(&format!("no runs{whose} in {}", week.name));
        return Ok(if week.unreadable > 0 { exit::FAILED } else { exit::NO_RUNS });
    }
    let recipients = Recipients::new(args, conf)?;
    let mut failures = week.unreadable;
    match (args.show, carrier) {
        (Some(form), _) => {
            for id in &chosen {
                let letter = Letter::write(&templates, &week.values(id, &recipients))?;
                let text = match form {
                    MailForm::Text => format!("Subject: {}\n\n{}", letter.subject, letter.text),
                    MailForm::Html => letter.html,
                };
                if TOOL.print(text.as_bytes()) == Printed::Failed {
                    return Ok(exit::FAILED);
                }
            }
        }
        (None, Some(carrier)) => {
            failures += send_all(args, env, &week, &templates, &recipients, &carrier)?;
        }
        (None, None) => {}
    }
    Ok(if failures > 0 { exit::FAILED } else { exit::OK })
}

/// Sends to every chosen user who wants it and has not got it: the number of failures.
fn send_all(
    args: &MailArgs,
    env: &Environment,
    week: &MailWeek,
    templates: &Templates,
    recipients: &Recipients,
    carrier: &Carrier,
) -> Result<usize, u8> {
    let mut state = MailState::open(args, env)?;
    let (mut sent, mut before, mut declined, mut short, mut nobody, mut failures) =
        (0u64, 0u64, 0u64, 0u64, 0u64, 0usize);
    for id in week.chosen(&args.user) {
        if week.pe_hours(&id) < args.least {
            short += 1;
            continue;
        }
        let known = recipients.login(&id);
        let address =
            known.and_then(|name| recipients.address(&name).map(|address| (name, address)));
        let Some((name, address)) = address else {
            nobody += 1;
            if !args.reading.quiet {
                let what = format!("{} has no address", week.described(&id));
                TOOL.warning(
                    &what,
                    None,
                    "the user database of this system does not know the user",
                );
            }
            continue;
        };
        if recipients.declines(&name) {
            declined += 1;
            continue;
        }
        // What is wrong with a template is known before anything is noted.
        let letter = Letter::write(templates, &week.values(&id, recipients))?;
        match state.begin(&week.name, &id)? {
            Sending::Begun => {}
            Sending::Done => {
                before += 1;
                continue;
            }
            Sending::Unclear => {
                before += 1;
                let what = format!("whether {name} got the mail of {} is not known", week.name);
                TOOL.warning(&what, None, "an earlier sending was interrupted; it is not repeated");
                continue;
            }
        }
        match carrier.send(&letter, &address) {
            Ok(()) => {
                state.end(&week.name, &id, true)?;
                sent += 1;
            }
            Err(cause) => {
                state.end(&week.name, &id, false)?;
                failures += 1;
                let what = format!("cannot send to {address}");
                TOOL.error(&what, Some(&cause), "the next call tries again");
            }
        }
    }
    if !args.reading.quiet {
        let mut parts = vec![format!("{sent} sent")];
        for (number, what) in [
            (before, "sent before"),
            (declined, "not wanted"),
            (short, "of less than --least PE-h"),
            (nobody, "without an address"),
            (failures as u64, "failed"),
        ] {
            parts.extend((number > 0).then(|| format!("{number} {what}")));
        }
        TOOL.say(&format!("mails of {}: {}", week.name, parts.join(", ")));
    }
    Ok(failures)
}
