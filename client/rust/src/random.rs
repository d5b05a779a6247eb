//! What nobody can foresee, from the system's own source.

/// 128 random bits, as hex: an id that nobody used before.
pub(crate) fn id() -> String {
    format!("{:016x}{:016x}", number(), number())
}

/// A number from 0 up to, and without, 1.
pub(crate) fn fraction() -> f64 {
    f64::from(getrandom::u32().expect("the system gives random numbers")) / (f64::from(u32::MAX) + 1.0)
}

fn number() -> u64 {
    getrandom::u64().expect("the system gives random numbers")
}
