//! Everything with `unsafe`: the self-test's loops, whose instructions must be known one
//! by one, and the loading of a library.
//!
//! Each loop is a function of its own that is never inlined, so that a disassembler or a
//! simulator can count what it really does (`tests/oracle.rs`).

/// Cache lines the strided sweep walks over: 16 MiB, far more than a first level cache
/// holds, and a power of two.
pub const LINES: usize = 1 << 18;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes from one access of the sweep to the next. An odd number of lines visits each line
/// once before the first comes again; leaving the page each time keeps prefetchers out.
const STRIDE: usize = 4099 * LINE;

/// A cache line's worth of memory.
#[derive(Clone)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// The memory that loads, stores and the sweep work on.
pub struct Memory(Vec<Line>);

impl Memory {
    /// 16 MiB in real pages: written, since untouched ones are all one page of zeros.
    pub fn new() -> Self {
        Memory(vec![Line([1; 8]); LINES])
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new()
    }
}

/// What one iteration of a loop does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Instructions, those of the loop itself included
    pub instructions: u64,
    /// Floating point operations: a fused multiply-add is two, SIMD lanes count each
    pub fp_ops: u64,
    /// Integer data processing instructions
    pub int_ops: u64,
    /// Loads
    pub loads: u64,
    /// Stores
    pub stores: u64,
    /// Cache lines that are not in the first level cache
    pub misses: u64,
    /// Integer multiplications that wait for each other
    pub chained: u64,
}

/// A loop with known instructions.
pub struct Loop {
    /// For people
    pub name: &'static str,
    /// Name of the function, as a disassembler shows it
    pub symbol: &'static str,
    /// What an iteration does
    pub work: Work,
    supported: fn() -> bool,
    code: unsafe fn(u64, *mut u8),
}

impl Loop {
    /// Whether this processor has the instructions.
    pub fn is_supported(&self) -> bool {
        (self.supported)()
    }

    /// Runs it. False, and nothing happened, if the processor lacks the instructions.
    pub fn run(&self, iterations: u64, memory: &mut Memory) -> bool {
        let runs = self.is_supported() && iterations > 0;
        if runs {
            // SAFETY: the processor has the instructions, there is at least one iteration,
            // and the memory is the size the loops are written for.
            unsafe { (self.code)(iterations, memory.0.as_mut_ptr().cast()) };
        }
        runs
    }
}

/// Iterations have 8 instructions under test.
const UNROLLED: u64 = 8;

#[cfg(target_arch = "x86_64")]
mod arch {
    use super::{LINE, LINES, Loop, STRIDE, UNROLLED, Work};
    use std::arch::asm;
    use std::arch::is_x86_feature_detected as has;

    /// A counter and a conditional jump follow the instructions under test.
    const LOOP: u64 = 2;

    /// Loops of eight instructions, `$odd` and `$even` in turns, on eight registers.
    macro_rules! float_loops {
        ($($symbol:ident $name:literal $needs:expr, $lanes:literal * $ops:literal,
           $odd:literal $even:literal $reg:literal $mid:literal $last:literal $end:literal;)*) => {
            $(
                /// # Safety
                /// The processor must have the instructions; `n` must not be 0.
                #[inline(never)]
                unsafe fn $symbol(n: u64, _: *mut u8) {
                    // SAFETY: works on registers that are declared as changed, only.
                    unsafe {
                        asm!(
                            "xorps xmm0, xmm0", "xorps xmm1, xmm1", "xorps xmm2, xmm2",
                            "xorps xmm3, xmm3", "xorps xmm4, xmm4", "xorps xmm5, xmm5",
                            "xorps xmm6, xmm6", "xorps xmm7, xmm7", "xorps xmm8, xmm8",
                            "2:",
                            concat!($odd, " ", $reg, "0", $mid, $reg, "0", $last, $reg, "8"),
                            concat!($even, " ", $reg, "1", $mid, $reg, "1", $last, $reg, "8"),
                            concat!($odd, " ", $reg, "2", $mid, $reg, "2", $last, $reg, "8"),
                            concat!($even, " ", $reg, "3", $mid, $reg, "3", $last, $reg, "8"),
                            concat!($odd, " ", $reg, "4", $mid, $reg, "4", $last, $reg, "8"),
                            concat!($even, " ", $reg, "5", $mid, $reg, "5", $last, $reg, "8"),
                            concat!($odd, " ", $reg, "6", $mid, $reg, "6", $last, $reg, "8"),
                            concat!($even, " ", $reg, "7", $mid, $reg, "7", $last, $reg, "8"),
                            "dec {n}",
                            "jnz 2b",
                            $end,
                            n = inout(reg) n => _,
                            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                            out("xmm8") _, options(nomem, nostack),
                        );
                    }
                }
            )*
            const FLOAT: &[Loop] = &[$(Loop {
                name: $name,
                symbol: stringify!($symbol),
                work: Work {
                    instructions: UNROLLED + LOOP,
                    fp_ops: UNROLLED * $lanes * $ops,
                    int_ops: 0, loads: 0, stores: 0, misses: 0, chained: 0,
                },
                supported: || $needs,
                code: $symbol,
            }),*];
        };
    }

    // SSE instructions name the destination once: `#` makes the rest a comment.
    float_loops! {
        add_scalar_double "scalar add/mul, double" true, 1 * 1, "addsd" "mulsd" "xmm" ", xmm8 # " "" "";
        add_scalar_single "scalar add/mul, single" true, 1 * 1, "addss" "mulss" "xmm" ", xmm8 # " "" "";
        add_128_double "128-bit add/mul, double" true, 2 * 1, "addpd" "mulpd" "xmm" ", xmm8 # " "" "";
        add_128_single "128-bit add/mul, single" true, 4 * 1, "addps" "mulps" "xmm" ", xmm8 # " "" "";
        add_256_double "256-bit add/mul, double" has!("avx"), 4 * 1, "vaddpd" "vmulpd" "ymm" ", " ", " "vzeroupper";
        add_256_single "256-bit add/mul, single" has!("avx"), 8 * 1, "vaddps" "vmulps" "ymm" ", " ", " "vzeroupper";
        add_512_double "512-bit add/mul, double" has!("avx512f"), 8 * 1, "vaddpd" "vmulpd" "zmm" ", " ", " "vzeroupper";
        add_512_single "512-bit add/mul, single" has!("avx512f"), 16 * 1, "vaddps" "vmulps" "zmm" ", " ", " "vzeroupper";
        fma_scalar_double "scalar FMA, double" has!("fma"), 1 * 2, "vfmadd231sd" "vfmadd231sd" "xmm" ", " ", " "vzeroupper";
        fma_scalar_single "scalar FMA, single" has!("fma"), 1 * 2, "vfmadd231ss" "vfmadd231ss" "xmm" ", " ", " "vzeroupper";
        fma_128_double "128-bit FMA, double" has!("fma"), 2 * 2, "vfmadd231pd" "vfmadd231pd" "xmm" ", " ", " "vzeroupper";
        fma_128_single "128-bit FMA, single" has!("fma"), 4 * 2, "vfmadd231ps" "vfmadd231ps" "xmm" ", " ", " "vzeroupper";
        fma_256_double "256-bit FMA, double" has!("fma"), 4 * 2, "vfmadd231pd" "vfmadd231pd" "ymm" ", " ", " "vzeroupper";
        fma_256_single "256-bit FMA, single" has!("fma"), 8 * 2, "vfmadd231ps" "vfmadd231ps" "ymm" ", " ", " "vzeroupper";
        fma_512_double "512-bit FMA, double" has!("avx512f"), 8 * 2, "vfmadd231pd" "vfmadd231pd" "zmm" ", " ", " "vzeroupper";
        fma_512_single "512-bit FMA, single" has!("avx512f"), 16 * 2, "vfmadd231ps" "vfmadd231ps" "zmm" ", " ", " "vzeroupper";
    }

    /// Eight loads of one line, into a register each: a simulator drops loads whose value
    /// is overwritten unused.
    ///
    /// # Safety
    /// `memory` must be a readable line; `n` must not be 0.
    #[inline(never)]
    unsafe fn load_words(n: u64, memory: *mut u8) {
        // SAFETY: as demanded.
        unsafe {
            asm!(
                "2:",
                "mov {a}, [{m}]", "mov {b}, [{m} + 8]", "mov {c}, [{m} + 16]",
                "mov {d}, [{m} + 24]", "mov {e}, [{m} + 32]", "mov {f}, [{m} + 40]",
                "mov {g}, [{m} + 48]", "mov {h}, [{m} + 56]",
                "dec {n}",
                "jnz 2b",
                n = inout(reg) n => _, m = in(reg) memory,
                a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
                e = out(reg) _, f = out(reg) _, g = out(reg) _, h = out(reg) _,
                options(readonly, nostack),
            );
        }
    }

    /// Eight stores into one line.
    ///
    /// # Safety
    /// `memory` must be a writable line; `n` must not be 0.
    #[inline(never)]
    unsafe fn store_words(n: u64, memory: *mut u8) {
        // SAFETY: as demanded.
        unsafe {
            asm!(
                "2:",
                "mov [{m}], {n}", "mov [{m} + 8], {n}", "mov [{m} + 16], {n}",
                "mov [{m} + 24], {n}", "mov [{m} + 32], {n}", "mov [{m} + 40], {n}",
                "mov [{m} + 48], {n}", "mov [{m} + 56], {n}",
                "dec {n}",
                "jnz 2b",
                n = inout(reg) n => _, m = in(reg) memory,
                options(nostack),
            );
        }
    }

    /// One load per iteration, each of another line.
    ///
    /// # Safety
    /// `memory` must be [`LINES`] readable lines; `n` must not be 0.
    #[inline(never)]
    unsafe fn sweep_lines(n: u64, memory: *mut u8) {
        // SAFETY: as demanded; the mask keeps the offset within the memory.
        unsafe {
            asm!(
                "xor {i:e}, {i:e}",
                "2:",
                "mov {t}, [{m} + {i}]",
                "add {i}, {stride}",
                "and {i}, {mask}",
                "dec {n}",
                "jnz 2b",
                n = inout(reg) n => _, m = in(reg) memory, t = out(reg) _, i = out(reg) _,
                stride = const STRIDE, mask = const LINES * LINE - 1,
                options(readonly, nostack),
            );
        }
    }

    /// Eight multiplications, each of the product before.
    ///
    /// # Safety
    /// `n` must not be 0.
    #[inline(never)]
    unsafe fn multiply_chain(n: u64, _: *mut u8) {
        // SAFETY: works on registers that are declared as changed, only.
        unsafe {
            asm!(
                "2:",
                "imul {t}, {t}", "imul {t}, {t}", "imul {t}, {t}", "imul {t}, {t}",
                "imul {t}, {t}", "imul {t}, {t}", "imul {t}, {t}", "imul {t}, {t}",
                "dec {n}",
                "jnz 2b",
                n = inout(reg) n => _, t = inout(reg) 3u64 => _,
                options(nomem, nostack),
            );
        }
    }

    const NONE: Work = Work {
        instructions: UNROLLED + LOOP,
        fp_ops: 0,
        int_ops: 0,
        loads: 0,
        stores: 0,
        misses: 0,
        chained: 0,
    };

    const PLAIN: &[Loop] = &[
        Loop {
            name: "loads",
            symbol: "load_words",
            work: Work { loads: UNROLLED, ..NONE },
            supported: || true,
            code: load_words,
        },
        Loop {
            name: "stores",
            symbol: "store_words",
            work: Work { stores: UNROLLED, ..NONE },
            supported: || true,
            code: store_words,
        },
        Loop {
            name: "strided sweep",
            symbol: "sweep_lines",
            work: Work { instructions: 5, loads: 1, misses: 1, ..NONE },
            supported: || true,
            code: sweep_lines,
        },
        Loop {
            name: "chain of multiplications",
            symbol: "multiply_chain",
            work: Work { chained: UNROLLED, ..NONE },
            supported: || true,
            code: multiply_chain,
        },
    ];

    pub const LOOPS: [&[Loop]; 2] = [FLOAT, PLAIN];
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use super::{LINE, LINES, Loop, STRIDE, UNROLLED, Work};
    use std::arch::asm;

    /// A counter and a conditional branch follow the instructions under test.
    const LOOP: u64 = 2;

    /// Loops of eight instructions, `$odd` and `$even` in turns, on eight registers.
    macro_rules! float_loops {
        ($($symbol:ident $name:literal, $lanes:literal * $ops:literal,
           $odd:literal $even:literal $reg:literal $kind:literal $third:literal;)*) => {
            $(
                /// # Safety
                /// `n` must not be 0.
                #[inline(never)]
                unsafe fn $symbol(n: u64, _: *mut u8) {
                    // SAFETY: works on registers that are declared as changed, only.
                    unsafe {
                        asm!(
                            "movi v16.2d, #0", "movi v17.2d, #0", "movi v18.2d, #0",
                            "movi v19.2d, #0", "movi v20.2d, #0", "movi v21.2d, #0",
                            "movi v22.2d, #0", "movi v23.2d, #0", "movi v24.2d, #0",
                            "2:",
                            concat!($odd, " ", $reg, "16", $kind, ", ", $reg, "16", $kind, ", ", $reg, "24", $kind, $third),
                            concat!($even, " ", $reg, "17", $kind, ", ", $reg, "17", $kind, ", ", $reg, "24", $kind, $third),
                            concat!($odd, " ", $reg, "18", $kind, ", ", $reg, "18", $kind, ", ", $reg, "24", $kind, $third),
                            concat!($even, " ", $reg, "19", $kind, ", ", $reg, "19", $kind, ", ", $reg, "24", $kind, $third),
                            concat!($odd, " ", $reg, "20", $kind, ", ", $reg, "20", $kind, ", ", $reg, "24", $kind, $third),
                            concat!($even, " ", $reg, "21", $kind, ", ", $reg, "21", $kind, ", ", $reg, "24", $kind, $third),
                            concat!($odd, " ", $reg, "22", $kind, ", ", $reg, "22", $kind, ", ", $reg, "24", $kind, $third),
                            concat!($even, " ", $reg, "23", $kind, ", ", $reg, "23", $kind, ", ", $reg, "24", $kind, $third),
                            "subs {n}, {n}, #1",
                            "b.ne 2b",
                            n = inout(reg) n => _,
                            out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _,
                            out("v21") _, out("v22") _, out("v23") _, out("v24") _,
                            options(nomem, nostack),
                        );
                    }
                }
            )*
            const FLOAT: &[Loop] = &[$(Loop {
                name: $name,
                symbol: stringify!($symbol),
                work: Work { fp_ops: UNROLLED * $lanes * $ops, ..NONE },
                supported: || true,
                code: $symbol,
            }),*];
        };
    }

    float_loops! {
        add_scalar_double "scalar add/mul, double", 1 * 1, "fadd" "fmul" "d" "" "";
        add_scalar_single "scalar add/mul, single", 1 * 1, "fadd" "fmul" "s" "" "";
        add_128_double "128-bit add/mul, double", 2 * 1, "fadd" "fmul" "v" ".2d" "";
        add_128_single "128-bit add/mul, single", 4 * 1, "fadd" "fmul" "v" ".4s" "";
        fma_scalar_double "scalar FMA, double", 1 * 2, "fmadd" "fmadd" "d" "" ", d24";
        fma_scalar_single "scalar FMA, single", 1 * 2, "fmadd" "fmadd" "s" "" ", s24";
        fma_128_double "128-bit FMA, double", 2 * 2, "fmla" "fmla" "v" ".2d" "";
        fma_128_single "128-bit FMA, single", 4 * 2, "fmla" "fmla" "v" ".4s" "";
    }

    /// Loops of eight given instructions on memory `m` and a word `t`.
    macro_rules! plain_loops {
        ($($symbol:ident $name:literal $work:expr, $($line:literal)*;)*) => {
            $(
                /// # Safety
                /// `memory` must be [`LINES`] writable lines; `n` must not be 0.
                #[inline(never)]
                unsafe fn $symbol(n: u64, memory: *mut u8) {
                    // SAFETY: as demanded; the mask keeps offsets within the memory.
                    unsafe {
                        asm!(
                            "2:",
                            $($line,)*
                            "subs {n}, {n}, #1",
                            "b.ne 2b",
                            "/* {i} {s} {k} {m} {t} */",
                            n = inout(reg) n => _, m = in(reg) memory,
                            t = inout(reg) 3u64 => _, i = inout(reg) 0u64 => _,
                            s = in(reg) STRIDE, k = in(reg) LINES * LINE - 1,
                            options(nostack),
                        );
                    }
                }
            )*
            const PLAIN: &[Loop] = &[$(Loop {
                name: $name,
                symbol: stringify!($symbol),
                work: $work,
                supported: || true,
                code: $symbol,
            }),*];
        };
    }

    plain_loops! {
        add_integers "integer additions" Work { int_ops: UNROLLED + 1, ..NONE },
            "add {t}, {t}, #1" "add {t}, {t}, #1" "add {t}, {t}, #1" "add {t}, {t}, #1"
            "add {t}, {t}, #1" "add {t}, {t}, #1" "add {t}, {t}, #1" "add {t}, {t}, #1";
        load_words "loads" Work { loads: UNROLLED, ..NONE },
            "ldr {t}, [{m}]" "ldr {t}, [{m}, #8]" "ldr {t}, [{m}, #16]" "ldr {t}, [{m}, #24]"
            "ldr {t}, [{m}, #32]" "ldr {t}, [{m}, #40]" "ldr {t}, [{m}, #48]" "ldr {t}, [{m}, #56]";
        store_words "stores" Work { stores: UNROLLED, ..NONE },
            "str {t}, [{m}]" "str {t}, [{m}, #8]" "str {t}, [{m}, #16]" "str {t}, [{m}, #24]"
            "str {t}, [{m}, #32]" "str {t}, [{m}, #40]" "str {t}, [{m}, #48]" "str {t}, [{m}, #56]";
        sweep_lines "strided sweep" Work { instructions: 5, loads: 1, misses: 1, ..NONE },
            "ldr {t}, [{m}, {i}]" "add {i}, {i}, {s}" "and {i}, {i}, {k}";
        multiply_chain "chain of multiplications" Work { chained: UNROLLED, ..NONE },
            "mul {t}, {t}, {t}" "mul {t}, {t}, {t}" "mul {t}, {t}, {t}" "mul {t}, {t}, {t}"
            "mul {t}, {t}, {t}" "mul {t}, {t}, {t}" "mul {t}, {t}, {t}" "mul {t}, {t}, {t}";
    }

    const NONE: Work = Work {
        instructions: UNROLLED + LOOP,
        fp_ops: 0,
        int_ops: 0,
        loads: 0,
        stores: 0,
        misses: 0,
        chained: 0,
    };

    pub const LOOPS: [&[Loop]; 2] = [FLOAT, PLAIN];
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod arch {
    use super::Loop;

    pub const LOOPS: [&[Loop]; 0] = [];
}

/// Every loop of this instruction set, whether or not this processor has it.
pub fn loops() -> impl Iterator<Item = &'static Loop> {
    arch::LOOPS.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sweep_visits_every_line_once_in_a_pass() {
        let mut seen = vec![false; LINES];
        for step in 0..LINES {
            let line = step * STRIDE % (LINES * LINE) / LINE;
            assert!(!std::mem::replace(&mut seen[line], true), "line {line} twice");
        }
    }
}
