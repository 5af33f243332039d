//! Welch's t-test: whether the means of two samples differ.

use crate::meter::of;

/// The mean of a sample.
pub(super) fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / of(sample.len().max(1))
}

/// The standard error of the difference between the means.
pub(super) fn error(one: &[f64], other: &[f64]) -> f64 {
    let of_mean = |sample: &[f64]| {
        let mean = mean(sample);
        let squares: f64 = sample.iter().map(|value| (value - mean).powi(2)).sum();
        squares / of(sample.len().saturating_sub(1).max(1)) / of(sample.len().max(1))
    };
    (of_mean(one) + of_mean(other)).sqrt()
}

/// The difference of the means in standard errors.
pub(super) fn t(one: &[f64], other: &[f64]) -> f64 {
    let error = error(one, other);
    if error > 0.0 { (mean(one) - mean(other)) / error } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_measured_in_standard_errors() {
        // Both have a variance of 2.5, so t = -1 / sqrt(2.5 / 5 + 2.5 / 5).
        let (one, other) = ([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!((t(&one, &other) + 1.0).abs() < 1e-9);
        assert!(t(&one, &one).abs() < 1e-9);
    }

    #[test]
    fn a_small_delay_of_many_is_found() {
        let noise = |at: u32| f64::from(at * 7_919 % 1_000);
        let (plain, late): (Vec<f64>, Vec<f64>) = (0..10_000).map(|at| (noise(at), noise(at) + 30.0)).unzip();
        assert!(t(&late, &plain) > 4.5);
    }
}
