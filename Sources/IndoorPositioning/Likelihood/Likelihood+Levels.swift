extension Likelihood {
    /// So many beacons are not heard together where none of them is expected: each one costs a place five nats and more, as
    /// what is heard there are others.
    private static let decisiveCount = 8

    /// Whether the device may be on a level: something of what is heard can be heard there, or nowhere at all, or too little
    /// is heard to tell.
    ///
    /// Tables of levels that are out of the question are never made.
    func isInQuestion(level: Int) -> Bool {
        evidence.heard.count < Self.decisiveCount || canHear(level)
            || !field.levels.indices.contains { $0 != level && canHear($0) }
    }

    private func canHear(_ level: Int) -> Bool {
        let tables = field.levels[level].tables
        return evidence.heard.contains { tables[$0.beacon] != nil }
    }
}
