extension Double {
    /// Returns the number rounded to at most `decimals` decimals, so that its JSON is short; zero for a number that
    /// isn't finite, which JSON can't represent.
    func rounded(decimals: Int) -> Double {
        guard isFinite else { return 0 }
        let factor = [1.0, 10, 100, 1000, 10_000][decimals]
        return (self * factor).rounded() / factor
    }
}
