//! Fills its stack; Rust's runtime says so before it aborts.

fn deeper(n: u64) -> u64 {
    let room = [n; 1000];
    if n == 0 { 0 } else { deeper(n - 1) + std::hint::black_box(room)[3] }
}

fn main() {
    println!("{}", deeper(u64::MAX));
}
