extension Array where Element: Sendable {
    /// What `transform` makes of each element, in order; several at a time.
    ///
    /// - Parameters:
    ///   - jobs: how many at a time, at least 1.
    ///   - report: takes how many are done, after each one.
    ///   - transform: takes an element and its index.
    /// - Throws: what the first one that fails throws; then the others are cancelled.
    func concurrentMap<Result: Sendable>(
        jobs: Int, report: (_ done: Int) -> Void,
        _ transform: @escaping @Sendable (_ index: Int, _ element: Element) async throws -> Result
    ) async throws -> [Result] {
        var results = [Result?](repeating: nil, count: count)
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var waiting = enumerated().makeIterator()
            func addTask() {
                guard let (index, element) = waiting.next() else { return }
                group.addTask { (index, try await transform(index, element)) }
            }
            for _ in 0..<jobs { addTask() }
            var done = 0
            while let (index, result) = try await group.next() {
                results[index] = result
                done += 1
                report(done)
                addTask()
            }
        }
        return results.compactMap(\.self)
    }
}
