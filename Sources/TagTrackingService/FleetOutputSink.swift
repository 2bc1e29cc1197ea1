import TagTracking

/// A destination of the outputs of a fleet, such as a broker, a web page or standard output.
///
/// A sink receives all outputs of a tag in their order. A call may suspend while the destination accepts data, but it
/// must return: a sink that is slower than the fleet drops or coalesces outputs, and counts them.
package protocol FleetOutputSink: Sendable {
    /// Writes outputs, in their order.
    func write(_ outputs: [FleetOutput]) async
}
