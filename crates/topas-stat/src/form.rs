//! The forms of a report: the options that choose one, and how each is made. A new form is a row of
//! [`Format`], its option and its arm in [`Format::render`].

use clap::{Args, ValueEnum};
use topas_chart::Screen;
use topas_render::{
    Csv, Document, Gnuplot, Json, JsonLines, R, ReportForm, TerminalBars, TextReport, Weight,
};

use crate::asked::wrong;

/// Which form.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct FormArgs {
    /// The form of the output
    #[arg(short, long, value_name = "FORM", value_enum, group = "form")]
    pub format: Option<Format>,

    /// The same as --format csv
    #[arg(long, group = "form")]
    pub csv: bool,

    /// The same as --format json
    #[arg(long, group = "form")]
    pub json: bool,

    /// The same as --format jsonl
    #[arg(long, group = "form")]
    pub jsonl: bool,

    /// The same as --format gnuplot
    #[arg(long, group = "form")]
    pub gnuplot: bool,

    /// The same as --format r
    #[arg(long, group = "form")]
    pub r: bool,

    /// The same as --format bars
    #[arg(long, group = "form")]
    pub bars: bool,
}

/// Forms of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A report for people
    #[default]
    Text,
    /// Comma separated values
    Csv,
    /// A JSON object, schema topas.stat/2
    Json,
    /// A JSON object for each row, schema topas.stat.row/1
    Jsonl,
    /// Data blocks for gnuplot
    Gnuplot,
    /// Source of R: a list of data frames
    R,
    /// Bars of characters
    Bars,
}

impl FormArgs {
    /// The form asked for.
    pub fn chosen(&self) -> Format {
        let flags = [
            (self.csv, Format::Csv),
            (self.json, Format::Json),
            (self.jsonl, Format::Jsonl),
            (self.gnuplot, Format::Gnuplot),
            (self.r, Format::R),
            (self.bars, Format::Bars),
        ];
        let flag = flags.into_iter().find(|(given, _)| *given).map(|(_, format)| format);
        flag.or(self.format).unwrap_or_default()
    }
}

impl FormArgs {
    /// Checks that an answer of another kind than a report has the form asked for.
    ///
    /// # Errors
    ///
    /// The exit code; what is wrong has been said.
    pub fn is_one_of(&self, forms: &[Format], option: &str) -> Result<(), u8> {
        let chosen = self.chosen();
        if forms.contains(&chosen) {
            return Ok(());
        }
        let word = |form: &Format| form.to_possible_value().map(|word| word.get_name().to_owned());
        let names: Vec<String> = forms.iter().filter_map(word).collect();
        let asked = word(&chosen).unwrap_or_default();
        let hint = match names.split_last() {
            Some((last, [])) => format!("take {last}"),
            Some((last, first)) => format!("take {} or {last}", first.join(", ")),
            None => String::new(),
        };
        Err(wrong(format!("{option} has no output of the form '{asked}'"), &hint))
    }
}

/// Where a report is shown.
pub struct ReportScreen {
    /// Columns of a text; None if it is to be as wide as its labels need
    pub width: Option<usize>,
    /// What the terminal can show
    pub screen: Screen,
    /// What bars are shares of
    pub weight: Weight,
}

impl Format {
    /// The whole report in this form.
    pub fn render(self, document: &Document<'_>, shown: ReportScreen) -> String {
        let ReportScreen { width, screen, weight } = shown;
        match self {
            Format::Text => TextReport { width }.render(document),
            Format::Csv => Csv.render(document),
            Format::Json => Json.render(document),
            Format::Jsonl => JsonLines.render(document),
            Format::Gnuplot => Gnuplot.render(document),
            Format::R => R.render(document),
            Format::Bars => TerminalBars { screen, weight }.render(document),
        }
    }
}
