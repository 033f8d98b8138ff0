//! Pages of TOPAS for browsers: HTML without scripts, which is readable without colours, on paper,
//! on a telephone, and by a screen reader.
//!
//! What a page says is made by `topas-render`; this crate lays it out. Pages of the center are files
//! ([`center_page`]). Pages of single runs, for users and staff, are served from a store:
//!
//! ```text
//! request -> Asked -> SignIn: which account -> Roles: Viewer -> page of the store's runs
//! ```
//!
//! Everything between is a function of a request ([`Web::answer`]), without sockets; [`serve`] is
//! the server around it. A run is asked of the store by its name and shown only if
//! [`Viewer::may_see`] says so: no page decides this itself. Words and numbers of a run are those of
//! `topas_render::one_run` and `topas_findings`, as every other tool shows them.
#![forbid(unsafe_code)]

mod access;
mod all_pes;
mod answer;
mod asked;
mod center;
mod layout;
mod metrics;
mod run_page;
mod runs_page;
mod serve;
mod sign_in;
mod worlds;

pub use access::{RoleFault, Roles, Viewer, ViewerRole};
pub use all_pes::{AllPes, FindAllPes};
pub use answer::{Answer, OpenStore, Web};
pub use asked::Asked;
pub use center::{CenterIndex, IndexEntry, center_index, center_page, names_in_page};
pub use serve::{Listen, serve};
pub use sign_in::{LINK_TIME, SignIn};
