import TagTracking

/// A destination of the outputs of a fleet, such as a broker, a web page or standard output.
///
/// A sink receives all outputs of a tag in their order. A call may suspend while the destination accepts data, but it
/// must return: a sink that is slower than the fleet drops or coalesces outputs, and counts them.
package protocol FleetOutputSink: Sendable {
    /// Writes outputs, in their order.
    func write(_ outputs: [FleetOutput]) async
    /// Writes changes of the receivers' health. A sink that doesn't need them ignores them.
    func write(_ events: [ReceiverEvent]) async
    /// Writes the activity of gateways. A sink that doesn't need it ignores it.
    func write(_ activity: GatewayActivity) async
    /// Writes readings of the tags whose readings are reported. A sink that doesn't need them ignores them.
    func write(_ readings: [TagReading]) async
    /// Writes the batteries of tags that have changed. A sink that doesn't need them ignores them.
    func write(_ batteries: [TagKey: TagBattery]) async
    /// Writes what happens to alerts. A sink that doesn't need it ignores it.
    func write(_ alerts: [AlertEvent]) async
    /// Uses the alerts at the start, and other rules. A sink that doesn't need them ignores them.
    func use(_ alerts: AlertStatus) async
    /// Uses another register, and removes the tags that aren't located any more. A sink without state ignores it.
    func use(register: TagRegister, removing tags: [TagKey]) async
    /// Forgets the tags of a partition whose work in this process has ended: another process has their outputs now. A sink
    /// without state ignores it.
    func forget(_ isForgotten: @Sendable (TagKey) -> Bool) async
}

extension FleetOutputSink {
    package func write(_ events: [ReceiverEvent]) async {}

    package func write(_ activity: GatewayActivity) async {}

    package func write(_ readings: [TagReading]) async {}

    package func write(_ batteries: [TagKey: TagBattery]) async {}

    package func write(_ alerts: [AlertEvent]) async {}

    package func use(_ alerts: AlertStatus) async {}

    package func use(register: TagRegister, removing tags: [TagKey]) async {}

    package func forget(_ isForgotten: @Sendable (TagKey) -> Bool) async {}
}
