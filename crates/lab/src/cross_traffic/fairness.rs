/// Returns Jain's fairness index of goodputs: (sum x)² / (n sum x²), from 1/n (one flow has all) to
/// 1 (all are equal).
///
/// Jain, Chiu, Hawe 1984 (DEC-TR-301). `None` without a flow, or if none moved anything.
pub fn jain_index(goodputs: &[f64]) -> Option<f64> {
    let squares: f64 = goodputs.iter().map(|x| x * x).sum();
    let sum: f64 = goodputs.iter().sum();
    (squares > 0.0).then(|| sum * sum / (goodputs.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::jain_index;

    #[test]
    fn the_index_lies_between_one_for_all_and_all_alike() {
        let near = |goodputs: &[f64], expected: f64| {
            let index = jain_index(goodputs).unwrap();
            assert!((index - expected).abs() < 1e-12, "{goodputs:?}: {index}");
        };
        near(&[3.0, 3.0, 3.0], 1.0);
        near(&[5.0, 0.0, 0.0, 0.0], 0.25);
        // Jain, Chiu, Hawe 1984, section 3: of two, one with a third of the other's.
        near(&[3.0, 1.0], 16.0 / 20.0);
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[0.0, 0.0]), None);
    }
}
