//! The list of fields in the manual page is made from the table of fields.
//!
//! `TOPAS_UPDATE_GOLDEN=1 cargo test -p topas-stat --test manual` writes it anew.

use std::fs;

use topas_data::field::FIELDS;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../doc/topas-stat.1");

/// The fields as `--list-fields` lists them, in the words of the page.
fn fields() -> String {
    let words = |text: &str| text.replace('`', "").replace('-', "\\-");
    let mut text = String::new();
    for field in FIELDS.iter() {
        let also = match field.also {
            "" => String::new(),
            also => format!(" \\fRor\\fP {also}"),
        };
        let (about, kind) = (words(field.about), words(&field.holds()));
        text += &format!(".TP\n.B {}{also}\n{about} ({kind})\n", field.name);
    }
    text + ".TP\n.B extra.KEY\nAny extra as it stands in the line. (text; of a rank, unless the field KEY is of the run)\n"
}

#[test]
fn the_page_lists_the_fields_of_the_table() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(".SS Fields\n").unwrap();
    let (_, behind) = rest.split_once(".SS Measures\n").unwrap();
    let made = [before, ".SS Fields\n", &fields(), ".SS Measures\n", behind].concat();
    if std::env::var_os("TOPAS_UPDATE_GOLDEN").is_some() {
        fs::write(PAGE, &made).unwrap();
    } else {
        assert!(page == made, "the fields in {PAGE} are not those of the table");
    }
}
