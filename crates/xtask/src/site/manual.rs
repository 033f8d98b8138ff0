//! Manual pages as pages of the site.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::output;

/// The page of a manual page: a heading, and what mandoc makes of it as one block of HTML. Names of
/// other manual pages of ours lead to their pages.
pub fn page(manual: &Path, manuals: &BTreeSet<&str>) -> Result<String> {
    let html = output(Command::new("mandoc").args(["-T", "html", "-O", "fragment"]).arg(manual))?;
    let name = manual.file_name().and_then(|name| name.to_str()).context("no name")?;
    let (title, section) = name.rsplit_once('.').context("no section")?;
    let body = html.find("<div class=\"manual-text\">").context("no text")?;
    let end = html.rfind("<table class=\"foot\">").unwrap_or(html.len());
    let text = html.get(body..end).context("no text")?;
    Ok(format!("# {title}({section})\n\n{}\n", one_block(&linked(text, manuals))))
}

/// HTML that Markdown takes for one block: headings of a lower level, and no empty line, which would
/// end the block.
fn one_block(html: &str) -> String {
    let html = html.replace("<h2", "<h3").replace("</h2>", "</h3>");
    let html = html.replace("<h1", "<h2").replace("</h1>", "</h2>");
    let lines = html.trim_end().lines();
    let filled = lines.map(|line| if line.trim().is_empty() { "<!-- -->" } else { line });
    filled.collect::<Vec<_>>().join("\n")
}

/// With links at the names of our manual pages, as `<b>topas-stat</b>(1)`.
fn linked(html: &str, manuals: &BTreeSet<&str>) -> String {
    manuals.iter().fold(html.to_owned(), |html, manual| {
        let file = manual.rsplit('/').next().unwrap_or(manual);
        let Some((name, section)) = file.rsplit_once('.') else { return html };
        // mandoc writes a minus as it is.
        let shown = format!("<b>{name}</b>({section})");
        html.replace(&shown, &format!("<a href=\"{file}.html\">{shown}</a>"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_no_empty_line_and_links_to_other_pages() {
        let manuals = BTreeSet::from(["doc/topas-stat.1"]);
        let html = "<h1>SEE</h1>\n<pre>a\n\nb</pre>\n<b>topas-stat</b>(1), <b>sacct</b>(1)\n";
        assert_eq!(
            one_block(&linked(html, &manuals)),
            "<h2>SEE</h2>\n<pre>a\n<!-- -->\nb</pre>\n\
             <a href=\"topas-stat.1.html\"><b>topas-stat</b>(1)</a>, <b>sacct</b>(1)"
        );
    }
}
