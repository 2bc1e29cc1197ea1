extension Range<Int> {
    /// Returns the first number of the range for which a condition is true, by bisection; the upper bound if there is none.
    ///
    /// The condition must be false up to a number and true from there.
    @inlinable @inline(__always)
    package func bisection(_ isReached: (Int) throws -> Bool) rethrows -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if try isReached(middle) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}
