//! `topas.conf` as it is in force here.

use std::path::PathBuf;

use topas_config::Conf;
use topas_format::conf::{KEYS, SettingValue};
use topas_format::mpi_conf;

/// The configuration, for people and programs.
#[derive(Debug)]
pub struct Configuration {
    /// The file that was read, or that could not be; None if there is none
    pub file: Option<PathBuf>,
    /// Why it could not be read
    pub problem: Option<String>,
    /// Every key, with its value and where that comes from
    pub settings: Vec<Setting>,
    /// Lines without effect
    pub warnings: Vec<String>,
}

/// A key in force.
#[derive(Debug)]
pub struct Setting {
    /// Name
    pub key: &'static str,
    /// Value in force
    pub value: String,
    /// `PATH:LINE`, `default`, or the name of a variable
    pub origin: String,
}

impl Configuration {
    /// What a configuration says.
    pub fn of(conf: &Conf) -> Self {
        let (settings, mpi) = (conf.settings(), conf.mpi());
        let value = |key: &[u8]| settings.value(key).or_else(|| mpi.value(key)).map(written);
        Configuration {
            file: conf.file().map(PathBuf::from),
            problem: conf.problem().map(ToString::to_string),
            settings: KEYS
                .iter()
                .chain(mpi_conf::KEYS)
                .map(|key| Setting {
                    key: key.name,
                    value: value(key.name.as_bytes()).unwrap_or_else(|| key.default.to_owned()),
                    origin: conf.origin_in_words(key.name),
                })
                .collect(),
            warnings: conf.warnings().iter().map(ToString::to_string).collect(),
        }
    }

    /// Where the value of a key comes from.
    pub fn origin(&self, key: &str) -> &str {
        self.settings.iter().find(|s| s.key == key).map_or("default", |s| s.origin.as_str())
    }
}

/// A value as it would be written into the file.
fn written(value: SettingValue<'_>) -> String {
    match value {
        SettingValue::Switch(on) => if on { "yes" } else { "no" }.to_owned(),
        SettingValue::Number(number) => number.to_string(),
        SettingValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
        SettingValue::Word(word) => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_format::conf::Settings;

    #[test]
    fn every_key_has_a_value_that_reads_back() {
        let text = "measure = no\nlink = no\nlog = file:/a file:/b\nuser_log = no\n\
                    print_batch = yes\nops = loads\nbatch_only = yes\nmin_pes = 4\nserial = yes\n\
                    only_exe = a b\nskip_exe = c\nonly_user = d\nskip_user = e 1*\nsignals = no\n\
                    mpi = no\nmpi_paths = 5\nmpi_waits = yes\nmpi_spool = /s\n";
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("topas.conf");
        std::fs::write(&file, format!("{text}colour = red\n")).unwrap();
        let conf = Conf::read(&file);
        let all = Configuration::of(&conf);
        let again: String =
            all.settings.iter().map(|s| format!("{} = {}\n", s.key, s.value)).collect();
        assert_eq!(Settings::read(again.as_bytes()), conf.settings());
        assert_eq!(mpi_conf::Settings::read(again.as_bytes()), conf.mpi());
        assert_eq!(
            conf.mpi(),
            mpi_conf::Settings { on: false, paths: 5, waits: true, spool: b"/s" }
        );
        assert_eq!(all.settings.len(), KEYS.len() + mpi_conf::KEYS.len());
        assert_eq!(all.warnings.len(), 1);
        assert_eq!(all.origin("ops"), format!("{}:6", file.display()));
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        let all = Configuration::of(&Conf::default());
        for (setting, key) in all.settings.iter().zip(KEYS.iter().chain(mpi_conf::KEYS)) {
            assert_eq!((setting.value.as_str(), setting.origin.as_str()), (key.default, "default"));
        }
        assert!(all.file.is_none() && all.problem.is_none());
    }
}
