extension Array where Element: Sendable {
    /// Returns the transformed elements in order; transforms several elements in parallel.
    ///
    /// - Parameters:
    ///   - jobs: the maximum number of parallel transforms, at least 1.
    ///   - report: receives the number of transformed elements after each one.
    ///   - transform: transforms an element, given with its index.
    /// - Throws: the error of the first transform that fails; the others are cancelled.
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
