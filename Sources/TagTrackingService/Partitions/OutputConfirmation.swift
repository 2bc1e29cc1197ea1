/// A confirmation that the destination of outputs has stored them.
///
/// A worker asks for it before it stores a state, because no later owner emits the outputs before that state again.
package protocol OutputConfirmation: Sendable {
    /// The number of failures so far in which outputs may have been lost, such as broken connections.
    var losses: Int { get }

    /// Waits until the destination has stored all outputs so far; returns whether it has.
    func flush() async -> Bool
}
