/// The id of an event in a stream of changes: the run of the service, a dash, and the number of the last change.
///
/// A browser sends the id of the last event that it received when it connects again. A stream that begins with all states after
/// the service has discarded notices adds the number of the last change at its begin to the run, after a dot. So a reader that
/// has missed notices sees another run, and begins anew as after a restart of the service.
struct ChangeID: Equatable {
    /// The number of the last change that the reader has; 0 for none.
    var number: UInt64 = 0
    /// The number of the last change when the reader began with all states, which needs only later notices; 0 if none had been
    /// discarded by then.
    var base: UInt64 = 0

    /// Creates the id of a reader that begins with all states.
    init() {}

    /// Reads an id; that of a reader that begins with all states if the text is from another run.
    init(_ text: String, in run: String) {
        guard let dash = text.lastIndex(of: "-"), let number = UInt64(text[text.index(after: dash)...]) else { return }
        let prefix = text[..<dash]
        if prefix == run {
            self.number = number
        } else if prefix.hasPrefix(run + "."), let base = UInt64(prefix.dropFirst(run.count + 1)) {
            (self.number, self.base) = (number, base)
        }
    }

    /// Returns the text of the id.
    func text(in run: String) -> String { base == 0 ? "\(run)-\(number)" : "\(run).\(base)-\(number)" }

    /// Whether the reader has missed a notice that the service no longer has.
    ///
    /// - Parameter discarded: the number of the last notice that was discarded; 0 for none.
    func hasMissed(_ discarded: UInt64) -> Bool { number > 0 && discarded > max(number, base) }
}
