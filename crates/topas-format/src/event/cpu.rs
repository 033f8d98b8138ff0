//! Which processor this is, from what the instruction set or the kernel tells.

/// Maker, or instruction set where the table has one list for all makers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Family {
    /// `GenuineIntel`
    Intel,
    /// `AuthenticAMD`
    Amd,
    /// MIDR_EL1; the number is the implementer
    Arm,
    /// The processor version register
    Power,
    /// `mvendorid` and `marchid`
    RiscV,
}

/// A processor model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Maker
    pub family: Family,
    /// x86: display family; Arm: implementer; RISC-V: lowest byte of `marchid`; POWER: 0
    pub number: u8,
    /// x86: display model; Arm: part; RISC-V: `mvendorid`; POWER: upper half of the PVR
    pub model: u16,
}

/// EBX of CPUID leaf 0: `Genu`ineIntel.
pub const INTEL: u32 = u32::from_le_bytes(*b"Genu");

/// EBX of CPUID leaf 0: `Auth`enticAMD.
pub const AMD: u32 = u32::from_le_bytes(*b"Auth");

impl Cpu {
    /// All of it in one number; models of a maker and family are neighbours.
    pub const fn key(self) -> u32 {
        (self.family as u32) << 24 | (self.number as u32) << 16 | self.model as u32
    }

    /// From CPUID: EBX of leaf 0, the first four letters of the maker, and EAX of leaf 1.
    ///
    /// Display family and model after Intel SDM volume 2, CPUID, and AMD APM volume 3.
    /// Both let the extended fields count only for some base families; in all others
    /// that ever had 64 bits they are zero.
    #[inline(always)]
    pub fn from_cpuid(leaf0_ebx: u32, leaf1_eax: u32) -> Option<Cpu> {
        let family = match leaf0_ebx {
            INTEL => Family::Intel,
            AMD => Family::Amd,
            _ => return None,
        };
        let number = (leaf1_eax >> 8 & 0xf) + (leaf1_eax >> 20 & 0xff);
        let model = leaf1_eax >> 4 & 0xf | leaf1_eax >> 12 & 0xf0;
        Some(Cpu { family, number: number as u8, model: model as u16 })
    }

    /// From the MIDR_EL1 register (Arm ARM D24.2.122).
    pub fn from_midr(midr: u64) -> Cpu {
        Cpu {
            family: Family::Arm,
            number: (midr >> 24 & 0xff) as u8,
            model: (midr >> 4 & 0xfff) as u16,
        }
    }

    /// From the processor version register of POWER (Power ISA, book III 5.4.4).
    pub fn from_pvr(pvr: u32) -> Cpu {
        Cpu { family: Family::Power, number: 0, model: (pvr >> 16) as u16 }
    }

    /// From the registers `mvendorid` and `marchid` of RISC-V, which the kernel tells in
    /// /proc/cpuinfo and by `riscv_hwprobe`.
    pub fn from_riscv(mvendorid: u32, marchid: u64) -> Cpu {
        Cpu { family: Family::RiscV, number: marchid as u8, model: mvendorid as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_seen_on_real_processors() {
        let intel = |eax| Cpu::from_cpuid(INTEL, eax).unwrap();
        assert_eq!((intel(0x50654).number, intel(0x50654).model), (6, 0x55));
        assert_eq!(intel(0x806f8).model, 0x8f);
        assert_eq!((intel(0x40f13).number, intel(0x40f13).model), (15, 0x41));
        let amd = |eax| Cpu::from_cpuid(AMD, eax).unwrap();
        assert_eq!((amd(0x830f10).number, amd(0x830f10).model), (23, 0x31));
        assert_eq!((amd(0xb00f21).number, amd(0xb00f21).model), (26, 2));
        assert_eq!(Cpu::from_cpuid(u32::from_le_bytes(*b"Hygo"), 0), None);
        assert_eq!(Cpu::from_midr(0x410fd4f0).model, 0xd4f);
        assert_eq!(Cpu::from_pvr(0x004e_1203).model, 0x4e);
        let u74 = Cpu::from_riscv(0x489, 0x8000_0000_0000_0007);
        assert_eq!((u74.number, u74.model), (7, 0x489));
    }
}
