extension Array {
    /// Returns at most `limit` of the elements, evenly spaced.
    func thinned(to limit: Int) -> [Element] {
        let step = Swift.max(1, (count + limit - 1) / limit)
        return stride(from: 0, to: count, by: step).map { self[$0] }
    }
}
