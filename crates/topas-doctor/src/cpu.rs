//! The processor of this node, and its row of the event table.

use std::path::Path;

use topas_driver::kernel_event::processor;
use topas_format::event::{Cpu, Family, Row, row};

use crate::procfs;

/// What is known of the processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Its name, as the kernel gives it
    pub name: Option<String>,
    /// Maker and model as the event table knows them; None for other makers
    pub cpu: Option<Cpu>,
}

impl Processor {
    /// The processor this runs on; `root` is where the file systems of the kernel are.
    pub fn of_this_node(root: &Path) -> Self {
        let info = procfs::text(&root.join("proc/cpuinfo"));
        let name = info.as_deref().and_then(|info| {
            ["model name", "Model Name", "cpu model"].iter().find_map(|key| field(info, key))
        });
        Processor { name, cpu: processor(root) }
    }

    /// Its row of the event table.
    pub fn row(&self) -> Option<&'static Row> {
        self.cpu.and_then(row)
    }

    /// Maker, family and model, as a vendor's manual lists them.
    pub fn signature(&self) -> String {
        match self.cpu {
            None => "of a maker the event table does not know".to_owned(),
            Some(cpu) => match cpu.family {
                Family::Intel => format!("Intel family {} model {:#04x}", cpu.number, cpu.model),
                Family::Amd => format!("AMD family {} model {:#04x}", cpu.number, cpu.model),
                Family::Arm => {
                    format!("MIDR implementer {:#04x} part {:#05x}", cpu.number, cpu.model)
                }
                Family::Power => format!("PVR {:#06x}", cpu.model),
                Family::RiscV => {
                    format!("mvendorid {:#x} marchid byte {:#04x}", cpu.model, cpu.number)
                }
            },
        }
    }
}

/// The value of the first line `key : value`.
fn field(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    });
    line.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_signatures() {
        let of = |family, number, model| Processor {
            name: None,
            cpu: Some(Cpu { family, number, model }),
        };
        let skx = of(Family::Intel, 6, 0x55);
        assert_eq!(skx.signature(), "Intel family 6 model 0x55");
        assert!(skx.row().unwrap().processors.contains("Skylake-SP"));
        assert!(of(Family::Intel, 6, 0x0f).row().is_none());
        let v2 = of(Family::Arm, 0x41, 0xd4f);
        assert_eq!(v2.signature(), "MIDR implementer 0x41 part 0xd4f");
        assert!(v2.row().unwrap().caveat.contains("speculative"));
        assert!(Processor { name: None, cpu: None }.row().is_none());
    }

    #[test]
    fn the_first_filled_name_of_cpuinfo() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC\n\nmodel name\t: other\n";
        assert_eq!(field(text, "model name").as_deref(), Some("AMD EPYC"));
        assert_eq!(field("model name :\n", "model name"), None);
    }
}
