/// The id of an event in a stream of changes: the run of the service, a dash, and the number of the last change.
///
/// A browser sends the id of the last event that it received when it connects again.
enum ChangeID {
    /// Returns the id of a change.
    static func text(run: String, number: UInt64) -> String { "\(run)-\(number)" }

    /// Returns the number of the change that an id names; 0, for all states, if the id is from another run.
    static func number(of id: String, in run: String) -> UInt64 {
        guard let dash = id.lastIndex(of: "-"), id[..<dash] == run else { return 0 }
        return UInt64(id[id.index(after: dash)...]) ?? 0
    }
}
