extension Likelihood {
    /// Whether the device may be on a level: something of what is heard can be heard there, or nowhere at all.
    ///
    /// Tables of the levels that are out of the question are never made.
    func isInQuestion(level: Int) -> Bool {
        canHear(level) || !field.levels.indices.contains { $0 != level && canHear($0) }
    }

    private func canHear(_ level: Int) -> Bool {
        let tables = field.levels[level].tables
        return evidence.heard.contains { tables[$0.beacon] != nil }
    }
}
