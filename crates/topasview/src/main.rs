//! `topasview`: the PEs of a run.
#![forbid(unsafe_code)]

mod args;
mod exit;
mod input;
mod mpi_profile;
mod output;
mod timeline;
mod why;

use std::process::ExitCode;

use topas_config::{Conf, Environment};
use topas_data::believe;
use topas_findings::Rules;
use topas_terminal::Printed;

use crate::args::TOOL;
use crate::input::Input;
use crate::output::Output;

fn main() -> ExitCode {
    let env = Environment::of_process();
    let conf = Conf::of_this_program(&env);
    believe(conf.log_owner());
    let code = match args::parse() {
        Ok((args, _)) if args.timeline => timeline::show(&args),
        Ok((args, _)) if args.why => why::show(&args, &rules(&conf, args.quiet)),
        Ok((args, _)) if args.mpi.on => mpi_profile::show(&args),
        Ok((args, views)) => {
            let input = Input::new(&args);
            let shown = Output::new(&args, &views, rules(&conf, args.quiet)).show(&input);
            match shown {
                Ok(Printed::Done) if !input.has_failed() => exit::OK,
                Ok(_) => exit::INPUT,
                Err(code) => code,
            }
        }
        Err(code) => code,
    };
    code.into()
}

/// The rules with those of the site; what is wrong with these is said, unless errors alone are wanted.
fn rules(conf: &Conf, quiet: bool) -> Rules {
    let site = conf.site_rules();
    let (rules, faults) = Rules::with(&site.texts);
    if !quiet {
        TOOL.faulty_rules(&site, &faults);
    }
    rules
}
