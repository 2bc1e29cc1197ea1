/// The knowledge whether the destination of outputs has them.
///
/// A worker asks before it stores a state, since no later owner emits the outputs before it again.
package protocol OutputConfirmation: Sendable {
    /// The number of occasions so far on which outputs may have been lost, such as broken connections.
    var losses: Int { get }

    /// Waits until the destination has all outputs so far; returns whether it has them.
    func flush() async -> Bool
}
